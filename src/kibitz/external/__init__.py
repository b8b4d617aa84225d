"""Programs of others that kibitz asks: processes with time limits that end whatever happens."""
