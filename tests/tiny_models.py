"""Tiny real models with random weights and tokenizers made of the example collection, saved as folders."""

import json
import re
from collections import Counter
from pathlib import Path

WIDTH, POSITIONS = 32, 64
TEXTS = [str(path) for path in sorted((Path(__file__).parents[1] / "examples" / "collection").glob("*.md"))]


def save_bert(folder: Path) -> Path:
    """Two layers, WordPiece."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    pieces = _word_pieces(800)
    (folder / "vocab.txt").write_text("\n".join(pieces))
    made = BertWordPieceTokenizer({piece: number for number, piece in enumerate(pieces)}, lowercase=True)
    BertTokenizerFast(tokenizer_object=made._tokenizer, model_max_length=POSITIONS).save_pretrained(folder)
    torch.manual_seed(0)
    BertModel(_sizes(BertConfig, len(pieces), POSITIONS)).save_pretrained(folder)
    return folder


def _word_pieces(size: int) -> list[str]:
    """A vocabulary that is the same at every run, which the library's own trainer does not promise."""
    words = Counter(re.findall(r"\w+|[^\w\s]", " ".join(Path(text).read_text().lower() for text in TEXTS)))
    letters = sorted({letter for word in words for letter in word})
    spared: Counter[str] = Counter()  # how many letters of the texts a piece stands for
    for word, count in words.items():
        for cut in range(2, len(word) + 1):
            spared[word[:cut]] += count * (cut - 1)
            spared["##" + word[-cut:]] += count * (cut - 1) * (cut < len(word))
    found = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *("##" + letter for letter in letters)]
    return found + sorted(spared, key=lambda piece: (-spared[piece], piece))[: size - len(found)]


def save_roberta(folder: Path) -> Path:
    """Two layers, byte-level BPE, positions that begin at 2."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from tokenizers.processors import RobertaProcessing
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaModel

    trained = ByteLevelBPETokenizer()
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train(TEXTS, vocab_size=700, show_progress=False, special_tokens=specials)
    inner = trained._tokenizer
    inner.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0))
    PreTrainedTokenizerFast(
        tokenizer_object=inner,
        **dict(
            zip(
                ("bos_token", "pad_token", "eos_token", "unk_token", "mask_token", "cls_token", "sep_token"),
                [*specials, "<s>", "</s>"],
                strict=True,
            )
        ),
    ).save_pretrained(folder)
    torch.manual_seed(0)
    RobertaModel(_sizes(RobertaConfig, inner.get_vocab_size(), POSITIONS + 2)).save_pretrained(folder)
    return folder


def save_sentence_model(folder: Path, layers: tuple[str, ...] = (), length: int = 40, **pooling: object) -> Path:
    """The tiny BERT with what sentence-transformers writes beside it."""
    folder.mkdir(parents=True)
    save_bert(folder)
    kinds = ["Transformer", "Pooling", *layers, "Normalize"]
    modules = [
        {"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "", "type": f"sentence_transformers.models.{kind}"}
        for i, kind in enumerate(kinds)
    ]
    _write(folder / "modules.json", modules)
    _write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": WIDTH, **pooling})
    _write(folder / "sentence_bert_config.json", {"max_seq_length": length, "do_lower_case": False})
    return folder


def _sizes(config, vocabulary: int, positions: int):
    return config(
        vocab_size=vocabulary,
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=positions,
    )


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))
