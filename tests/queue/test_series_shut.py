"""``[image.run]`` is no way around the shut container."""

import json
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.queue.series import load_series
from lanewright.queue.series_shut import HOME
from tests.conftest import World

NAME = '"cache"'
SITE = "/opt/venv/lib/python3.12/site-packages"


def run_table(world: World, *lines: str) -> None:
    table = "\n".join(["[image]", f'site_packages = "{SITE}"', "", "[image.run]", *lines])
    world.edit("series/sample.toml", "# the hook", f"{table}\n\n# the hook")


def volumes(*places: str) -> str:
    """A table with a volume in each place."""
    return f"volumes = {{ {', '.join(f'{json.dumps(place)} = {NAME}' for place in places)} }}"


def refused(world: World, *lines: str) -> str:
    run_table(world, *lines)
    with pytest.raises(LanewrightError) as error:
        load_series(world.project, "sample")
    assert str(error.value).startswith(f"{world.root}/series/sample.toml: [image.run] ")
    return str(error.value).partition("[image.run] ")[2]


@pytest.mark.parametrize("name", ["SYS_NICE", "CAP_SYS_NICE", "SYS_ADMIN", "CHECKPOINT_RESTORE"])
def test_a_capability_is_asked_for_by_its_name(world: World, name: str) -> None:
    run_table(world, f'cap_add = ["{name}"]')
    image = load_series(world.project, "sample").image
    assert image
    assert image.run
    assert image.run.cap_add == [name]


@pytest.mark.parametrize("name", ["ALL", "all", "CAP_ALL"])
def test_all_capabilities_at_once_are_not(world: World, name: str) -> None:
    told = refused(world, f'cap_add = ["SYS_NICE", "{name}"]')
    assert told.startswith(f"cap_add: {name!r} is every capability")


@pytest.mark.parametrize("name", ["", "SYS", "SYS_NICE2", "sys_nice", "SYS_NICE,SYS_ADMIN", "CAP_"])
def test_what_is_no_capability(world: World, name: str) -> None:
    assert refused(world, f'cap_add = ["{name}"]').startswith(
        f"cap_add: {name!r} is not a capability"
    )


HIDING = {
    "/": "is the root of the container",
    "//": "is the root of the container",
    "/./": "is the root of the container",
    SITE: f"would hide what is in {SITE}: vLLM is there",
    f"/{SITE}//": f"would hide what is in {SITE}: vLLM is there",
    f"{SITE}/vllm/model_executor": f"would hide what is in {SITE}: vLLM is there",
    "/opt/./venv/lib": f"would hide what is in {SITE}: vLLM is there",
    "/opt": f"would hide what is in {SITE}: vLLM is there",
    "/opt/venv/bin": "would hide what is in /opt/venv/bin: the image's Python is there",
    "/opt/venv/lib64/x": "would hide what is in /opt/venv/lib64: the image's Python is there",
    "/conda/bin": "would hide programs or modules of the image",
    "/cache/../opt": "leads elsewhere by `..`",
    "/..": "leads elsewhere by `..`",
    HOME: "is where a container of a lane has /tmp of its own",
    f"{HOME}/": "is where a container of a lane has /tmp of its own",
    "/lane": "is where a container of a lane has /lane of its own",
    "/lane/model": "is where a container of a lane has /lane of its own",
    "/usr/bin": "is in /usr, which is the image's",
    "/etc": "is in /etc, which is the image's",
    "/proc": "is in /proc, which is the image's",
    "/root": "would hide what is in /root/.local: Python looks there for packages first",
    "/root/.local/lib": "would hide what is in /root/.local: Python looks there",
    "/a,b": "is not an absolute path in the container",
    "/a:ro": "is not an absolute path in the container",
    "/a\nb": "is not an absolute path in the container",
    "cache": "is not an absolute path in the container",
}


@pytest.mark.parametrize("path", HIDING)
def test_no_volume_hides_what_the_image_has(world: World, path: str) -> None:
    lines = [
        f"volumes = {{ {json.dumps(path)} = 'cache' }}",
        "environment = { HOME = '/x/../root' }",
    ]
    told = refused(world, *lines)
    assert told.startswith(f"volumes: {path!r} ")
    assert HIDING[path] in told


@pytest.mark.parametrize("other", ["/data/", "//data", "/./data", "/data"])
def test_two_volumes_are_two_places(world: World, other: str) -> None:
    paths = ["/data/./x", f"{other}/x"]
    told = refused(world, volumes(*paths))
    assert told == f"volumes: {paths[1]!r} and {paths[0]!r} are one place"


def test_caches_are_what_volumes_are_for(world: World) -> None:
    places = ["/root/.cache", "/root/.triton", f"{HOME}/cache", "/lanes", "/optional", "/data/a/b"]
    run_table(world, volumes(*places))
    assert load_series(world.project, "sample").image


@pytest.mark.parametrize(
    "name",
    [
        "PYTHONPATH",
        "PYTHONHOME",
        "PYTHONUSERBASE",
        "PATH",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
    ],
)
def test_no_variable_has_another_vllm_loaded(world: World, name: str) -> None:
    told = refused(world, f'environment = {{ HOME = "/root", {name} = "/data" }}')
    assert told.startswith(f"environment: {name} changes what is loaded")


@pytest.mark.parametrize("name", ["PYTHONHASHSEED", "VLLM_LOGGING_LEVEL", "OLD_PATH", "LDFLAGS"])
def test_other_variables_are_the_lanes_own(world: World, name: str) -> None:
    run_table(world, f'environment = {{ {name} = "1" }}')
    assert load_series(world.project, "sample").image


@pytest.mark.parametrize(
    "path",
    [
        "health",
        "/a b",
        "/'",
        '/"',
        "/`id`",
        "/$HOME",
        "/$(id)",
        "/a;b",
        "/a|b",
        "/a\\",
        "/a)",
        "/%2",
        "/#",
    ],
)
def test_a_health_check_cannot_leave_its_string(world: World, path: str) -> None:
    told = refused(world, f"health = {json.dumps(path)}")
    assert told.startswith(f"health: {path!r} is not a path such as")


@pytest.mark.parametrize("model", ["/", "//", "/a:/b", "/a,b", "/a\nb", "-x", "--trust", "", "a b"])
def test_a_model_is_one_folder_or_one_word(world: World, model: str) -> None:
    told = refused(world, f"model = {json.dumps(model)}")
    assert told.startswith(f"model: {model!r} is not a folder")


@pytest.mark.parametrize("lane", ["gb300-twobank", "gb300-staging"])
def test_our_own_lanes_ask_for_one_capability(lane: str) -> None:
    image = load_series(Project.find(Path(__file__).parents[2]), lane).image
    assert image
    assert image.run
    assert image.run.cap_add == ["SYS_NICE"]
