"""Error texts of the NoSQL API that clients compare with."""

NO_RESOURCE = "Resource Not Found. Learn more: https://aka.ms/cosmosdb-tsg-not-found"
NO_ENTITY = f"Entity with the specified id does not exist in the system. {NO_RESOURCE}"
NO_OWNER = f"Owner resource does not exist. {NO_RESOURCE}"
EXISTS = "Entity with the specified id already exists in the system."
UNIQUE = "Unique index constraint violation."
PRECONDITION = "One of the specified pre-condition is not met. Learn more: https://aka.ms/CosmosDB/sql/errors/precondition-failed"
TOO_LARGE = "Request size is too large"
MISMATCH = "PartitionKey extracted from document doesn't match the one specified in the header."
OTHER_KEY = (
    "Partition key provided either doesn't correspond to definition in the collection or doesn't "
    "match partition key field values specified in the document."
)
SESSION = "The read/write session is not available for the input session token."
SIGNATURE = "The input authorization token can't serve the request...."
MODE_NONE = "Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection"
COMPOSITE = (
    "The order by query does not have a corresponding composite index that it can be served from."
)


def bad_ttl(value):
    """Returns the error for an invalid ttl of an item; the value is quoted as it was sent."""
    return (
        f"The input ttl '{value}' is invalid. Ensure to provide a nonzero positive integer less "
        "than or equal to '2147483647', or '-1' which means never expire."
    )
