"""A model small enough for tests: real llama layers with random weights, which answers nonsense.

One layer, 64 wide; the 256 bytes and all pairs of letters as tokens: half a megabyte that loads in a tenth of
a second, and reads a prompt of 15,000 characters in half a second.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
LAYERS, WIDE, HEADS, FORWARD = 1, 64, 2, 128
FILLS = ("fim_pre", "fim_suf", "fim_mid")
"""The tokens that mark the text before a gap, behind it, and where the answer begins."""
UNKNOWN, NORMAL, CONTROL, BYTE = 2, 1, 3, 6
"""Kinds of token, as the format numbers them."""


def write_tiny_model(
    file: Path, *, context: int = 32_768, endless: bool = False, fills: bool = False
) -> Path:
    """Write the model to ``file``. An ``endless`` one never says that its answer is over; one that ``fills``
    has the tokens by which a gap in a text is marked."""
    import gguf
    import numpy as np

    tokens = [b"<unk>", b"<s>", b"</s>", *(f"<0x{byte:02X}>".encode() for byte in range(256))]
    kinds = [UNKNOWN, CONTROL, CONTROL] + [BYTE] * 256
    letters = "\u2581abcdefghijklmnopqrstuvwxyz"
    pieces = [*letters, *(one + other for one in letters for other in letters)]
    tokens += [piece.encode() for piece in pieces]
    kinds += [NORMAL] * len(pieces)
    marks = {name: len(tokens) + number for number, name in enumerate(FILLS if fills else ())}
    tokens += [f"<|{name}|>".encode() for name in marks]
    kinds += [CONTROL] * len(marks)
    writer = gguf.GGUFWriter(str(file), "llama")
    writer.add_name("tiny")
    writer.add_context_length(context)
    writer.add_embedding_length(WIDE)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDE // HEADS)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    for name, token in marks.items():
        writer.add_uint32(f"tokenizer.ggml.{name}_token_id", token)
    writer.add_chat_template(TEMPLATE)
    dice = np.random.default_rng(7)

    def weights(*shape: int) -> Any:
        return dice.normal(0, 0.2, shape).astype(np.float32)

    output = weights(len(tokens), WIDE)
    # Of all tokens the likeliest 40 are drawn from: a row of zeros is never among them, a long one often.
    output[2] *= 0.0 if endless else 4.0
    ones = np.ones(WIDE, np.float32)
    tensors = {"token_embd": weights(len(tokens), WIDE), "output_norm": ones, "output": output}
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        tensors |= {block + name: ones for name in ("attn_norm", "ffn_norm")}
        tensors |= {
            block + name: weights(WIDE, WIDE) for name in ("attn_q", "attn_k", "attn_v", "attn_output")
        }
        tensors |= {block + name: weights(FORWARD, WIDE) for name in ("ffn_gate", "ffn_up")}
        tensors[block + "ffn_down"] = weights(WIDE, FORWARD)
    for name, value in tensors.items():
        writer.add_tensor(f"{name}.weight", value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file
