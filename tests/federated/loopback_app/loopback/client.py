"""App of each clinic."""

from loopback.clinics import clinic
from radboost.federated import client_app

app = client_app(lambda context: clinic(int(context.node_config["partition-id"])))
