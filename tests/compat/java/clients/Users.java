import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.CreateDelegationTokenOptions;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialAlteration;
import org.apache.kafka.clients.admin.UserScramCredentialDeletion;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.quota.ClientQuotaFilterComponent;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/** What is kept of users: their rights, credentials, tokens and quotas. */
final class Users {
    private static final AclBinding MAY_READ = acl(ResourceType.TOPIC, "t", PatternType.PREFIXED,
        "User:alice", AclOperation.READ, AclPermissionType.ALLOW);
    private static final AclBinding MAY_NOT_WRITE = acl(ResourceType.TOPIC, "t",
        PatternType.LITERAL, "User:bob", AclOperation.WRITE, AclPermissionType.DENY);

    private final Admin admin;
    private final Said said;

    Users(String servers, Said said) throws Exception {
        this.said = said;
        try (Admin made = Admin.create(Map.of("bootstrap.servers", servers))) {
            admin = made;
            rights();
            credentials();
            tokens();
            quotas();
        }
    }

    private static AclBinding acl(ResourceType type, String name, PatternType pattern,
        String principal, AclOperation operation, AclPermissionType permission) {
        return new AclBinding(new ResourcePattern(type, name, pattern),
            new AccessControlEntry(principal, "*", operation, permission));
    }

    private void rights() {
        said.of("create rights", () -> admin.createAcls(List.of(MAY_READ, MAY_NOT_WRITE)).all());
        for (AclBinding wrong : List.of(
            acl(ResourceType.CLUSTER, "odd", PatternType.LITERAL, "User:a", AclOperation.ALTER,
                AclPermissionType.ALLOW),
            acl(ResourceType.TOPIC, "", PatternType.LITERAL, "User:a", AclOperation.READ,
                AclPermissionType.ALLOW),
            acl(ResourceType.TOPIC, "t", PatternType.LITERAL, "alice", AclOperation.READ,
                AclPermissionType.ALLOW),
            acl(ResourceType.GROUP, "g", PatternType.LITERAL, "User:a", AclOperation.WRITE,
                AclPermissionType.ALLOW))) {
            said.of("create " + wrong, () -> admin.createAcls(List.of(wrong)).all());
        }
        said.of("describe rights", () ->
            Set.copyOf(admin.describeAcls(AclBindingFilter.ANY).values().get()));
        said.of("describe one's rights", () ->
            admin.describeAcls(MAY_READ.toFilter()).values());
        said.of("delete rights", () -> admin.deleteAcls(List.of(MAY_READ.toFilter())).all());
        said.of("delete them again", () -> admin.deleteAcls(List.of(MAY_READ.toFilter())).all());
        said.of("delete all rights", () ->
            Set.copyOf(admin.deleteAcls(List.of(AclBindingFilter.ANY)).all().get()));
    }

    private void credentials() {
        var weak = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 16);
        var strong = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096);
        altered("credential", new UserScramCredentialUpsertion("alice", strong, "hush"));
        altered("weak credential", new UserScramCredentialUpsertion("alice", weak, "hush"));
        altered("nobody's credential", new UserScramCredentialUpsertion("", strong, "hush"));
        said.of("describe credentials", () -> admin.describeUserScramCredentials().all());
        said.of("describe one's", () ->
            admin.describeUserScramCredentials(List.of("alice")).description("alice"));
        said.of("describe nobody's", () ->
            admin.describeUserScramCredentials(List.of("bob")).description("bob"));
        altered("delete a credential",
            new UserScramCredentialDeletion("alice", ScramMechanism.SCRAM_SHA_512));
        altered("delete it again",
            new UserScramCredentialDeletion("alice", ScramMechanism.SCRAM_SHA_512));
        said.of("one user twice", () -> admin.alterUserScramCredentials(List.of(
            new UserScramCredentialUpsertion("carol", strong, "hush"),
            new UserScramCredentialDeletion("carol", ScramMechanism.SCRAM_SHA_512))).all());
    }

    private void altered(String call, UserScramCredentialAlteration alteration) {
        said.of(call, () -> admin.alterUserScramCredentials(List.of(alteration)).all());
    }

    /** Over a connection without authentication. */
    private void tokens() {
        said.of("create a token", () ->
            admin.createDelegationToken(new CreateDelegationTokenOptions()).delegationToken());
        said.of("renew a token", () ->
            admin.renewDelegationToken(new byte[] {1}).expiryTimestamp());
        said.of("expire a token", () ->
            admin.expireDelegationToken(new byte[] {1}).expiryTimestamp());
        said.of("describe tokens", () -> admin.describeDelegationToken().delegationTokens());
    }

    private void quotas() {
        var alice = new ClientQuotaEntity(Map.of("user", "alice"));
        var everybody = new ClientQuotaEntity(Collections.singletonMap("client-id", null));
        quota("quota of a user", alice, "producer_byte_rate", 1e6);
        quota("quota of every client", everybody, "request_percentage", 200.0);
        quota("unknown quota", alice, "patience", 1.0);
        quota("negative quota", alice, "consumer_byte_rate", -1.0);
        quota("quota of nobody", new ClientQuotaEntity(Map.of()), "producer_byte_rate", 1.0);
        Said.until("quotas that brokers have heard of", () -> quotaCount() == 2);
        said.of("describe quotas", () ->
            admin.describeClientQuotas(ClientQuotaFilter.all()).entities());
        said.of("describe one's quotas", () -> admin.describeClientQuotas(
            ClientQuotaFilter.contains(List.of(ClientQuotaFilterComponent.ofEntity(
                "user", "alice")))).entities());
        said.of("describe only a default", () -> admin.describeClientQuotas(
            ClientQuotaFilter.containsOnly(List.of(
                ClientQuotaFilterComponent.ofDefaultEntity("client-id")))).entities());
        quota("remove a user's quota", alice, "producer_byte_rate", null);
        quota("remove every client's quota", everybody, "request_percentage", null);
        Said.until("quotas that brokers have forgotten", () -> quotaCount() == 0);
        said.of("describe what is left", () ->
            admin.describeClientQuotas(ClientQuotaFilter.all()).entities());
    }

    private int quotaCount() {
        try {
            return admin.describeClientQuotas(ClientQuotaFilter.all()).entities().get().size();
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    private void quota(String call, ClientQuotaEntity whose, String key, Double value) {
        var op = new ClientQuotaAlteration.Op(key, value);
        said.of(call, () -> admin.alterClientQuotas(
            List.of(new ClientQuotaAlteration(whose, List.of(op)))).all());
    }
}
