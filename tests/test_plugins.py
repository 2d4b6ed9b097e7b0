"""Registries: built-in names win, and plugins that do not fit are named."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from ircert.errors import IrcertError
from ircert.limits import OutOfTime
from ircert.plugins import Registry


class Animal(ABC):
    name: str

    @abstractmethod
    def sound(self) -> str: ...


class Dog(Animal):
    name = "dog"

    def sound(self) -> str:
        return "wuff"


class Half(Animal):
    name = "half"


def registry(monkeypatch: pytest.MonkeyPatch, **plugins: str) -> Registry[Animal]:
    points = tuple(EntryPoint(name, value, "animals") for name, value in plugins.items())
    monkeypatch.setattr(Registry, "plugins", lambda self: points)

    built_in = {"dog": f"{__name__}:Dog"}
    return Registry(("animal", "animals"), "animals", built_in, f"{__name__}:Animal", IrcertError)


def test_names_and_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    found = registry(monkeypatch, cat="nowhere:Cat", dog="nowhere:Dog")
    assert found.names() == ["cat", "dog"]
    assert found.get("dog") is Dog, "built-in names win"
    with pytest.raises(IrcertError, match="animal `cow`: there is no such animal; the animals are cat, dog"):
        found.get("cow")


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("cat", "nowhere:Cat", "cannot be loaded (ModuleNotFoundError"),
        ("half", f"{__name__}:Half", "is not whole: it has no `sound`"),
        ("wolf", f"{__name__}:Dog", "has the name 'dog', its entry point another one; give both the same"),
        ("word", "string:digits", f"is no Animal; derive it from {__name__}.Animal"),
    ],
)
def test_plugins_that_do_not_fit(monkeypatch: pytest.MonkeyPatch, name: str, value: str, says: str) -> None:
    found = registry(monkeypatch, **{name: value})
    with pytest.raises(IrcertError) as caught:
        found.get(name)
    assert says in str(caught.value)
    with pytest.warns(UserWarning, match="the plugin"):
        assert found.others() == []


def test_a_whole_plugin_is_one_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    found = registry(monkeypatch, puppy=f"{__name__}:Dog")
    monkeypatch.setattr(Dog, "name", "puppy")
    assert found.others() == [Dog]


def test_what_can_be_loaded_is_listed_beside_what_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    found = registry(monkeypatch, cat="nowhere:Cat")
    with pytest.warns(UserWarning, match="animal `cat`"):
        assert found.loadable() == [Dog]


def test_a_plugin_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = registry(monkeypatch, cat="nowhere:Cat")
    says = r"animal `cat`: the plugin of nowhere:Cat failed \(KeyError: 'milk'\); repair or uninstall nowhere:Cat"
    with pytest.raises(IrcertError, match=says), found.blaming("cat"):
        raise KeyError("milk")
    for name in ("dog", "nobody"):  # a bug of ircert, or of the caller
        with pytest.raises(KeyError), found.blaming(name):
            raise KeyError("milk")
    with pytest.raises(OutOfTime), found.blaming("cat"):
        raise OutOfTime


def test_a_package_that_is_installed_meanwhile_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    found: Registry[Animal] = Registry(("animal", "animals"), "animals", {}, f"{__name__}:Animal", IrcertError)
    assert found.names() == []
    info = tmp_path / "zoo-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: zoo\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[animals]\ndog = {__name__}:Dog\n")
    assert found.names() == ["dog"]
    assert found.get("dog") is Dog
