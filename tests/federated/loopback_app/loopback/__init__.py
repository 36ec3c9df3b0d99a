"""A Flower app: clinics of two regions, each in processes of its own."""
