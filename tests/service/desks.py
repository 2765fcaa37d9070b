"""The campaign that tests of the service ask."""

DESKS = "/api/campaigns/desks"


def ask(http, **body):
    answer = http.post(f"{DESKS}/decisions", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["decisions"]
