"""A memory for coding agents whose logic lives in a Neo4j graph."""

__version__ = "0.1.0"
