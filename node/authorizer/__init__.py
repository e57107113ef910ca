"""Who may do what: Kafka's AclAuthorizer over ACLs in ZooKeeper.

    authorizer.py      what handlers ask, and the answer where no authorizer is set: everything
    acl_authorizer.py  the rules, pure
    acl_set.py         the ACLs by resource pattern, and which of them apply to a name
    acl_filters.py     which of them a DescribeAcls or DeleteAcls means
    acl_store.py       reading and writing them in ZooKeeper, as procedures
    acls.py            the broker's own copy: read at its start, kept by notices
    settings.py        super users and the rest

Begin with authorizer.py. What each API asks is in node/requests.
"""
