"""What all experiments share: settings and reports, questions and their answers as facts, pages and files."""
