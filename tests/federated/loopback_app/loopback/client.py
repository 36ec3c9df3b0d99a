"""What each clinic runs."""

from radboost.federated import client_app
from radboost.federated.simulate import clinic

app = client_app(lambda context: clinic(int(context.node_config["partition-id"])))
