"""Why an op is not read, and what to do about it."""

from __future__ import annotations

from onnx import AttributeProto

from ircert.errors import UnsupportedModel
from ircert.frontends.onnx.values import Call

_OTHERWISE = (
    "keep outputs that do not need it (outputs=[…], command line: --outputs), or write it with ops that are read"
)
_RANDOM = frozenset(
    {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial"}
)
_REASONS: dict[frozenset[str], tuple[str, str]] = {
    frozenset({"Loop", "Scan", "If", "SequenceMap"}): (
        "control flow that depends on the input is not read",
        "export the model with loops unrolled (torch: trace instead of script)",
    ),
    frozenset({"Sign", "Floor", "Ceil", "Round", "ArgMax", "ArgMin", "TopK", "NonZero", "Hardmax", "Mod", "OneHot"}): (
        "it jumps, so the network is not continuous",
        "keep outputs that come before it: outputs=[…] (command line: --outputs)",
    ),
    frozenset({"Equal", "And", "Or", "Xor", "IsNaN", "IsInf"}): (
        "a condition on computed numbers is not read",
        "comparisons (Greater, Less, …) are read inside Where, where both branches meet",
    ),
    frozenset({"QuantizeLinear", "DequantizeLinear", "QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger"}): (
        "quantised arithmetic is not read",
        "export the float model",
    ),
    frozenset({"LSTM", "GRU", "RNN"}): ("recurrent cells are not read", "unroll them into MatMul and activations"),
    _RANDOM: (
        "it is random",
        "export the model for inference (model.eval())",
    ),
    frozenset({"InstanceNormalization", "GroupNormalization", "MeanVarianceNormalization"}): (
        "it divides by a deviation computed from the input and is not read",
        "use BatchNormalization, which is affine at inference",
    ),
}


def refuse_constant(call: Call) -> UnsupportedModel:
    """The error for an op whose inputs are all known, and which is not computed on constants."""
    own = call.op in _RANDOM or any(attribute.type == AttributeProto.GRAPH for attribute in call.proto.attribute)
    if own:
        return refuse_op(call)
    return call.refuse(
        "it is not computed on constants", "store its result in the model (a simplifier such as onnxsim)"
    )


def refuse_op(call: Call) -> UnsupportedModel:
    """The error for an op without a handler, or with inputs that it cannot have."""
    for ops, (problem, remedy) in _REASONS.items():
        if call.op in ops or (call.op == "DynamicQuantizeLinear" and "QuantizeLinear" in ops):
            return call.refuse(problem, remedy)
    return call.refuse("this op is not supported", _OTHERWISE)
