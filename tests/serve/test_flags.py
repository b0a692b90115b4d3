import pytest

from lanewright.serve.flags import flags


@pytest.mark.parametrize(
    ("engine", "expected"),
    [
        ({}, []),
        ({"max_model_len": 256}, ["--max-model-len=256"]),
        ({"enforce_eager": True}, ["--enforce-eager"]),
        ({"enable_prefix_caching": False}, ["--no-enable-prefix-caching"]),
        ({"quantization": None}, []),
        ({"offload_params": ["w13", "w2"]}, ["--offload-params", "w13", "w2"]),
        ({"additional_config": {"a": [1]}}, ['--additional-config={"a": [1]}']),
        (
            {"moe_hot_experts": "12,16", "moe_cold_rows": "exclusive", "moe_boot_map": "/a b.json"},
            ["--moe-hot-experts=12,16", "--moe-cold-rows=exclusive", "--moe-boot-map=/a b.json"],
        ),
        ({"moe_hot_experts": ""}, ["--moe-hot-experts="]),
        ({"kv_cache_dtype": "-odd"}, ["--kv-cache-dtype=-odd"]),
        ({"gpu_memory_utilization": 0.5}, ["--gpu-memory-utilization=0.5"]),
    ],
)
def test_each_kind_of_value(engine: dict[str, object], expected: list[str]) -> None:
    assert flags(engine) == expected


def test_order_is_kept() -> None:
    assert flags({"b": 1, "a": True}) == ["--b=1", "--a"]
