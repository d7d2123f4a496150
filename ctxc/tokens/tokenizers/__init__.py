"""One tokenizer per file. Each module has ``build(store) -> Tokenizer``; its name is the tokenizer's id."""
