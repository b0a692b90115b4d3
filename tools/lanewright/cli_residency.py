"""The command line of hot experts: ``residency ACTION``."""

import argparse
from functools import partial
from pathlib import Path

from lanewright import cli_kinds
from lanewright.cli_gate import add_gate
from lanewright.cli_guess import add_guess
from lanewright.cli_image import AddCommand
from lanewright.cli_record import add_record
from lanewright.cli_replay import add_replay
from lanewright.cli_trace import add_trace


def add_residency(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", command: AddCommand
) -> None:
    """The commands about which experts are hot."""
    text = "plan which experts are hot"
    residency = commands.add_parser("residency", help=text, description=text, allow_abbrev=False)
    actions = residency.add_subparsers(metavar="ACTION", required=True)
    usage_map = command(
        actions,
        "map",
        "turn a usage map into the file that boots a lane's hot experts",
        reads=True,
        of_lane=False,
        module="residency_map",
    )
    usage_map.add_argument("usage_map", type=Path, metavar="USAGE", help="a usage map, Parquet")
    usage_map.add_argument("--out", type=Path, metavar="FILE", help="write the file, JSON")
    _add_plan(actions, command)
    _add_cost(actions, command)
    add_record(actions, command)
    add_trace(actions, command)
    add_replay(actions, command)
    add_gate(actions, command)
    add_guess(actions, command)
    top = command(
        actions,
        "top",
        "show how a running server's map of experts does, layer by layer",
        reads=True,
        of_lane=False,
        module="residency_top",
    )
    whence = top.add_mutually_exclusive_group()
    whence.add_argument(
        "--file",
        dest="stats_file",
        type=cli_kinds.named_path,
        metavar="PATH",
        help="its EXPERT_BANK_STATS, file or folder",
    )
    whence.add_argument(
        "--port",
        dest="server_port",
        type=cli_kinds.port,
        default=8000,
        help="port of the server; by default %(default)s",
    )
    top.add_argument("--once", action="store_true", help="one frame, and end")
    top.add_argument(
        "--interval",
        type=cli_kinds.interval,
        default=2.0,
        metavar="SECONDS",
        help="between two frames; by default %(default)s",
    )


def _add_plan(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", command: AddCommand
) -> None:
    """The dry run of two banks."""
    plan = command(
        actions,
        "plan",
        "tell what a lane's two banks take of a machine, without it",
        reads=True,
        module="residency_plan",
    )
    texts = {
        "device": "device memory, as in 250.7GiB",
        "host": "host memory",
        "other": "weights on the device that are no experts",
        "pinned": "host memory that others pin",
        "page": "a page of host memory, as in 64KiB",
        "kv-pool": "size of the KV cache as it is served today",
        "hot": "hot experts, as moe_hot_experts has them",
        "stage": "the staging buffer, as moe_prefill_stage has it",
    }
    for name, text in texts.items():
        kind = "SIZE" if name not in ("hot", "stage") else "SPEC"
        plan.add_argument(f"--{name}", metavar=kind, help=f"{text}; before what the series says")
    numbers = {
        "link": ("GB/s", "at which the device reads host memory in place"),
        "kv-tokens": ("TOKENS", "of KV cache in a GiB"),
    }
    for name, (kind, text) in numbers.items():
        plan.add_argument(f"--{name}", type=cli_kinds.above, metavar=kind, help=text)
    plan.add_argument(
        "--cold-share",
        type=cli_kinds.share,
        metavar="SHARE",
        help="of the picks that are cold, as in 0.027; tells the smallest staged step for it, too",
    )
    steps = {
        "--graph-tokens": ("graph_tokens", 0, "up to which a step is replayed from a graph"),
        "--max-num-batched-tokens": ("step_tokens", 1, "that a step has at most, as in [engine]"),
    }
    for name, (place, least, text) in steps.items():
        read = partial(cli_kinds.tokens, least)
        plan.add_argument(name, dest=place, type=read, metavar="TOKENS", help=text)


def _add_cost(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", command: AddCommand
) -> None:
    """What cold experts cost."""
    cost = command(
        actions,
        "cost",
        "tell what cold experts cost a lane: reads, copies, slots, disk",
        reads=True,
        module="residency_cost",
    )
    # With a checkpoint's config and a machine file no lane is needed, and no project.
    cost.set_defaults(anywhere=True)
    files = {
        "config": ("checkpoint", "FILE", "a checkpoint's config.json, instead of the lane's model"),
        "machine": ("machine_file", "FILE", "a machine file, instead of the lane's [machine]"),
        "figures": ("figures", "FILE", "hold these stated figures against the computed ones"),
        "plots": ("plots", "DIR", "draw what is told, as PNG and SVG"),
    }
    for name, (place, kind, text) in files.items():
        cost.add_argument(f"--{name}", dest=place, type=Path, metavar=kind, help=text)
    cost.add_argument("--hot", metavar="SPEC", help="hot experts, as moe_hot_experts has them")
    cost.add_argument("--budget", metavar="SIZE", help="that a barrier may copy; by default 64MiB")
    cost.add_argument(
        "--cold-share",
        type=cli_kinds.share,
        metavar="SHARE",
        help="of the picks that are cold, too",
    )
    cost.add_argument(
        "--users",
        type=partial(cli_kinds.count, "users"),
        action="append",
        metavar="N",
        help="at once, in a step; may be given several times",
    )
    cost.add_argument(
        "--tokens",
        type=cli_kinds.above,
        metavar="T",
        help="of one user that a step computes, drafts under verify too; by default as fitted, or 1",
    )
    shares = {
        "overlap": (cli_kinds.hidden, "of the time over the link that is hidden"),
        "skew": (cli_kinds.exponent, "Zipf's exponent of picks among cold experts"),
    }
    for name, (read, text) in shares.items():
        cost.add_argument(
            f"--{name}", type=read, default=0.0, metavar="NUMBER", help=f"{text}; by default 0"
        )
    cost.add_argument(
        "--slots",
        type=partial(cli_kinds.count, "slots"),
        default=3,
        metavar="N",
        help="of each layer, for copies; by default %(default)s",
    )
