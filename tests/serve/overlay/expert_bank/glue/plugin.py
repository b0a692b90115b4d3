called: list[bool] = []


def register() -> None:
    called.append(True)
    print("expert_bank 0.1.0 is in")  # noqa: T201 - vLLM's log shows it


def registered() -> bool:
    return bool(called)
