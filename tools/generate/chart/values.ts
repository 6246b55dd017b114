/** Every value of the chart: values.yaml, values.schema.json and the table of its README are made of this. Pure: no I/O, no clock. */
import { SETTINGS } from '../../../src/service/settings/table.ts';
import { networkPolicy, policies, streamsNamespace } from './isolation.ts';
import { limits, resourceQuota } from './limits.ts';
import { crypto, invoices, stripe } from './money.ts';
import { grafana, monitoring } from './monitoring.ts';
import { buildPlatform } from './platform.ts';
import { choice, flag, group, list, name, native, secretName, strings, text, type Value, whole } from './schema.ts';
import { valueFor } from './settings.ts';
import { tracing } from './tracing.ts';
import { uploads } from './uploads.ts';
import { mail, oidc } from './users.ts';

const DNS_LABEL = '^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$';
const QUANTITY = '^[0-9]+(\\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi)?$';

const account = (who: string): Value =>
  group(`The ServiceAccount of the ${who}.`, {
    create: flag('Create it. If false, it must exist.', true),
    name: name('Its name. Defaults to a name from the release.'),
    annotations: strings('Its annotations, e.g. for a cloud identity.'),
  });

/** Logs, which kubelet rotates, and /tmp. */
const DISK = { requests: { 'ephemeral-storage': '64Mi' }, limits: { 'ephemeral-storage': '1Gi' } };

/** The values that each Deployment has. */
const deployment = (who: string, resources: unknown) => ({
  resources: native(`Resources of the ${who}'s container.`, resources),
  serviceAccount: account(who),
  pdb: group(`PodDisruptionBudget of the ${who}. It needs two replicas or more.`, {
    enabled: flag('Create it.', true),
    maxUnavailable: whole('Pods that a drain may evict at the same time.', 1, 1),
  }),
  podLabels: strings('Labels of the pods.'),
  podAnnotations: strings('Annotations of the pods.'),
  extraEnv: list('Additional environment variables (core/v1 EnvVar).', { type: 'object' }),
  nodeSelector: strings('Node labels that the pods require.'),
  tolerations: native('Tolerations of the pods (core/v1 Toleration).', []),
  affinity: native(
    'Affinity of the pods (core/v1 Affinity). By default each replica is on another node and in another zone, where possible.',
  ),
  topologySpreadConstraints: native(
    'Spread of the pods (core/v1 TopologySpreadConstraint), in place of the default podAntiAffinity.',
    [],
  ),
  priorityClassName: text('PriorityClass of the pods.'),
});

const DIGEST = { pattern: '^(sha256:[0-9a-f]{64})?$' };

const image = group(
  'The image of all other roles than those of `prepareImage`. Build it from the Dockerfile and push it to your registry.',
  {
    registry: text('Registry host, e.g. `registry.example.com`.'),
    repository: text('Repository, with its path.', 'loopstream', { minLength: 1 }),
    tag: text('Tag. Defaults to the appVersion of the chart.'),
    digest: text('Digest. It takes precedence over the tag.', '', DIGEST),
    pullPolicy: choice('Pull policy.', 'IfNotPresent', ['Always', 'IfNotPresent', 'Never']),
  },
);

const prepareImage = group(
  'The image of Jobs and of the role `platform`, the target `prepare` of the Dockerfile. It has ffmpeg and ffprobe.',
  {
    registry: text('Registry host. Defaults to that of `image`.'),
    repository: text(
      'Repository. Defaults to that of `image` with `-prepare` at its end. To run Jobs with an image of your own that has every program, name the repository of `image`.',
    ),
    tag: text('Tag. Defaults to that of `image`.'),
    digest: text('Digest. It takes precedence over the tag.', '', DIGEST),
  },
);

const storage = group('The storage of media.', {
  type: choice('`file`: a volume that many pods mount. `s3`: S3 or a compatible server.', 'file', ['file', 's3']),
  file: group('For `file`: a volume in each watched namespace.', {
    existingClaim: name('An existing PersistentVolumeClaim with this name in each watched namespace.'),
    apiClaim: name(
      'A PersistentVolumeClaim in the namespace of the release with the same files, for an API server in another namespace than its streams. Without it, uploads come only from links.',
    ),
    volume: native('Another volume source instead, e.g. `{csi: {…}}` (core/v1 VolumeSource).'),
    size: text('Size of the claim that the chart creates, if no other volume is set.', '100Gi', { pattern: QUANTITY }),
    storageClass: text('StorageClass of that claim. Defaults to that of the cluster.'),
    accessModes: list(
      'Access modes of that claim. ReadWriteOnce is enough for a single node.',
      { enum: ['ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'] },
      ['ReadWriteMany'],
      { minItems: 1 },
    ),
    keep: flag('Keep that claim and its media when the release is uninstalled.', true),
    mountPath: text('Mount path in pods.', '/media', { pattern: '^/[^?#]+$' }),
  }),
  s3: group('For `s3`.', {
    bucket: text('Bucket.', '', { pattern: '^[A-Za-z0-9._-]*$' }),
    prefix: text('Prefix of every object key, without a slash at either end.', '', {
      pattern: '^([^/?#]+(/[^/?#]+)*)?$',
    }),
    perNamespace: flag(
      'Add the watched namespace to the prefix. Without it, turn off `operator.sweep` in namespaces that share a bucket.',
      true,
    ),
    endpoint: text('URL of a server other than AWS.', '', { pattern: '^(https?://.+)?$' }),
    region: text('Region.'),
    forcePathStyle: flag('Put the bucket into the path of the URL instead of the host.', false),
    existingSecret: secretName(
      'A Secret with the keys `accessKeyId` and `secretAccessKey`, in each watched namespace.',
    ),
    apiSecret: secretName(
      'The same Secret in the namespace of the release, for an API server in another namespace than its streams. Defaults to `existingSecret` if `watchNamespaces` names no namespace.',
    ),
    readOnlySecret: secretName('A Secret with read-only keys for the pods of streams. Defaults to `existingSecret`.'),
    accessKeyId: text(
      'Access key, for a Secret that the chart creates. Without access keys, the pods use their own identity.',
    ),
    secretAccessKey: text('Secret access key, for a Secret that the chart creates.'),
    cacheBytes: whole('Bytes of disk that a stream uses as a cache.', 2 * 2 ** 30, 256 * 2 ** 20),
  }),
  scratchVolume: native(
    'Volume source for the working files of a Job (core/v1 VolumeSource). By default an emptyDir of 64 GiB.',
  ),
});

const jobs = group(
  'Placement of Jobs and tests of destinations, which open untrusted files and connect to untrusted servers.',
  {
    runtimeClassName: text('RuntimeClass of their pods, e.g. one of gVisor or Kata Containers.'),
    nodeSelector: strings('Node labels that their pods require.'),
    tolerations: native('Tolerations of their pods (core/v1 Toleration).', []),
    affinity: native('Affinity of their pods (core/v1 Affinity).'),
    priorityClassName: text('PriorityClass of their pods.'),
  },
);

const operator = group('The operator.', {
  replicas: whole('Replicas, of which one leads. More than one needs `leaderElection`.', 2, 1, 10),
  leaderElection: valueFor('LEADER_ELECTION'),
  workers: valueFor('WORKERS'),
  importConcurrency: valueFor('IMPORT_CONCURRENCY'),
  prepareConcurrency: valueFor('PREPARE_CONCURRENCY'),
  preparePods: valueFor('PREPARE_PODS'),
  maxPrepareSeconds: valueFor('MAX_PREPARE_SECONDS'),
  shareRenditions: valueFor('SHARE_RENDITIONS'),
  rolloutSeconds: valueFor('ROLLOUT_SECONDS'),
  metered: flag('Keep sessions until they are acknowledged, for a meter that counts usage.', false),
  allowPrivateLinks: valueFor('ALLOW_PRIVATE_LINKS'),
  allowPrivateDestinations: valueFor('ALLOW_PRIVATE_DESTINATIONS'),
  sweep: group('Deletion of unused media.', {
    enabled: valueFor('SWEEP'),
    graceHours: valueFor('SWEEP_GRACE_HOURS'),
    keepUnusedDays: valueFor('KEEP_UNUSED_DAYS'),
  }),
  ...deployment('operator', {
    requests: { cpu: '50m', memory: '128Mi', ...DISK.requests },
    limits: { memory: '768Mi', ...DISK.limits },
  }),
});

const confine = valueFor('CONFINE');

const exposure = {
  service: group('The Service of the API server.', {
    type: choice('Type.', 'ClusterIP', ['ClusterIP', 'NodePort', 'LoadBalancer']),
    port: whole('Port.', 80, 1, 65_535),
    annotations: strings('Its annotations.'),
  }),
  ingress: group('An Ingress to the API server.', {
    enabled: flag('Create it.', false),
    className: text('IngressClass.'),
    annotations: strings('Its annotations.'),
    hosts: list('Host names.', { type: 'string', minLength: 1 }),
    path: text('Path prefix.', '/', { pattern: '^/' }),
    tlsSecret: secretName('Secret with the certificate. Without it, the Ingress has no TLS.'),
  }),
  httpRoute: group('An HTTPRoute to the API server (Gateway API).', {
    enabled: flag('Create it.', false),
    annotations: strings('Its annotations.'),
    parentRefs: list('Gateways of the route (ParentReference).', {
      type: 'object',
      required: ['name'],
    }),
    hostnames: list('Host names.', { type: 'string', minLength: 1 }),
  }),
};

const api = group('The API server: REST, GraphQL and the dashboard. Disable it to use only kubectl.', {
  enabled: flag('Install it. It needs PostgreSQL.', true),
  replicas: whole('Replicas, if autoscaling is off.', 2, 0, 100),
  namespace: name('The watched namespace in which it creates objects. Defaults to the first one.'),
  cellNamespaces: list(
    SETTINGS.CELL_NAMESPACES.description,
    { type: 'string', pattern: DNS_LABEL, minLength: 1, maxLength: 63 },
    [],
    { uniqueItems: true },
  ),
  fullNamespaces: list(SETTINGS.FULL_NAMESPACES.description, { type: 'string', minLength: 1 }, [], {
    uniqueItems: true,
  }),
  publicUrl: { ...valueFor('PUBLIC_URL'), pattern: '^(https?://[^/]+.*)?$' },
  supportUrl: { ...valueFor('SUPPORT_URL'), pattern: '^((mailto:[^@]+@|https://)[^/]+.*)?$' },
  rateLimit: group('Rate limit of each account, and of each IP address without credentials.', {
    requests: valueFor('RATE_LIMIT_REQUESTS'),
  }),
  accessLimits: group('Limits against password guessing and floods of mails and OAuth clients.', {
    signInAttempts: valueFor('SIGN_IN_ATTEMPTS'),
    clientRegistrations: valueFor('CLIENT_REGISTRATIONS'),
    mailsPerHour: valueFor('MAILS_PER_HOUR'),
    unusedClientDays: valueFor('UNUSED_CLIENT_DAYS'),
  }),
  previews: group('Live previews that one server shows at the same time.', {
    perServer: valueFor('PREVIEWS_PER_SERVER'),
  }),
  feedsPerServer: valueFor('FEEDS_PER_SERVER'),
  trustProxy: list(SETTINGS.TRUST_PROXY.description, {
    type: 'string',
    minLength: 1,
  }),
  corsOrigins: list(SETTINGS.CORS_ORIGINS.description, {
    type: 'string',
    pattern: '^(\\*|https?://[^/]+)$',
  }),
  shutdownDelaySeconds: whole(
    'Seconds for which a terminating pod still serves requests, until the Service and load balancers stop sending to it.',
    5,
    0,
    600,
  ),
  scopePrefix: text('Prefix of the scopes of access tokens.', 'service', { pattern: '^[a-z][a-z0-9_-]*$' }),
  auth: group('Key that signs sessions.', {
    existingSecret: secretName('An existing Secret with this key.'),
    existingSecretKey: text('Name of the entry in that Secret.', 'authSecret', { minLength: 1 }),
    secret: text('The key, 32 characters or more, for a Secret that the chart creates.', '', {
      pattern: '^(.{32,})?$',
    }),
  }),
  signUp: valueFor('SIGN_UP'),
  autoscaling: group('HorizontalPodAutoscaler of the API server.', {
    enabled: flag('Create it.', false),
    minReplicas: whole('Minimum of replicas.', 2, 1),
    maxReplicas: whole('Maximum of replicas.', 10, 1),
    cpuPercent: whole('Target CPU use, in percent of the requested CPU.', 70, 1, 1000),
  }),
  ...exposure,
  ...deployment('API server', {
    requests: { cpu: '100m', memory: '192Mi', ...DISK.requests },
    limits: { memory: '512Mi', ...DISK.limits },
  }),
});

const database = group('PostgreSQL, for the API server.', {
  existingSecret: secretName('An existing Secret with its URL.'),
  existingSecretKey: text('Name of the entry in that Secret.', 'databaseUrl', { minLength: 1 }),
  url: text('The URL, for a Secret that the chart creates.', '', { pattern: '^(postgres(ql)?://.+)?$' }),
  migrations: group('The Job that updates the schema of the database before each install and upgrade.', {
    enabled: flag('Run it.', true),
    timeoutSeconds: whole('The longest time for the Job.', 600, 1),
    resources: native('Resources of its container.', {
      requests: { cpu: '50m', memory: '128Mi', ...DISK.requests },
      limits: { memory: '512Mi', ...DISK.limits },
    }),
  }),
});

const billing = group('Billing: streams cost credits for their time on air, and stop when the credit is used up.', {
  enabled: flag('Install it. It needs the API server, and makes the operator keep uncounted time.', false),
  replicas: whole('Replicas. One of them runs each job.', 2, 0, 10),
  currency: text('Currency of money (ISO 4217).', 'USD', { pattern: '^[A-Z]{3}$' }),
  prices: native(
    'Prices of an hour on air: a list of `quality`, `framerate`, `creditsPerHour` and, for a future price, `from`. Empty for the default list.',
    [],
  ),
  stripe,
  invoices,
  crypto,
  graceSeconds: valueFor('CREDIT_GRACE_SECONDS'),
  welcomeGrant: group('The first credit of a new account.', {
    minor: valueFor('WELCOME_GRANT_MINOR'),
    perDay: valueFor('WELCOME_GRANTS_PER_DAY'),
  }),
  ...deployment('role billing', {
    requests: { cpu: '50m', memory: '128Mi', ...DISK.requests },
    limits: { memory: '512Mi', ...DISK.limits },
  }),
});

const platform = buildPlatform(
  deployment('role platform', {
    requests: { cpu: '20m', memory: '128Mi', ...DISK.requests },
    limits: { memory: '512Mi', ...DISK.limits },
  }),
);

const redis = group(
  'Redis, which counts the requests of all replicas of the API server. Without it, each replica counts its own.',
  {
    existingSecret: secretName('An existing Secret with its URL.'),
    existingSecretKey: text('Name of the entry in that Secret.', 'redisUrl', { minLength: 1 }),
    url: text('The URL, for a Secret that the chart creates.', '', { pattern: '^(rediss?://.+)?$' }),
  },
);

export const VALUES = group('Values of the chart loopstream.', {
  nameOverride: name('Name of the chart in names and labels.'),
  fullnameOverride: text('Prefix of the names of all objects.', '', { pattern: DNS_LABEL, maxLength: 40 }),
  watchNamespaces: list(
    'Existing namespaces in which the operator works. With `*`, it watches all, and works where it has a Role. Defaults to `streamsNamespace`.',
    { type: 'string', pattern: '^([*]|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$', maxLength: 63 },
    [],
    { uniqueItems: true },
  ),
  streamsNamespace,
  commonLabels: strings('Labels of every object.'),
  commonAnnotations: strings('Annotations of every object.'),
  image,
  prepareImage,
  imagePullSecrets: list(
    'Image pull Secrets of the API server and the operator. Streams and Jobs use those of the ServiceAccount `default` in their namespace.',
    { type: 'object', required: ['name'], additionalProperties: false, properties: { name: { type: 'string' } } },
  ),
  logLevel: choice('Log level of every role.', 'info', ['trace', 'debug', 'info', 'warn', 'error', 'fatal']),
  crds: group('The CustomResourceDefinitions.', {
    install: flag('Install them. Disable it for a second release in the same cluster.', true),
    keep: flag('Keep them, and every stream, when the release is uninstalled.', true),
    annotations: strings('Their annotations.'),
  }),
  rbac: group('Roles and RoleBindings.', {
    create: flag('Create them in each watched namespace.', true),
    aggregate: flag(
      'Add the rights on streams, uploads, playlists and destinations to the ClusterRoles view, edit and admin of Kubernetes.',
      true,
    ),
    nodes: flag(
      'Let the operator read nodes, so that a stream leaves a cordoned node before a drain evicts its pod.',
      true,
    ),
    finalizers: flag(
      'Let the release remove its finalizers when it is uninstalled or a namespace is deleted. Without it, run `loopstream remove-finalizers` yourself.',
      true,
    ),
  }),
  storage,
  jobs,
  confine,
  uploads,
  limits,
  resourceQuota,
  operator,
  api,
  billing,
  platform,
  database,
  redis,
  mail,
  oidc,
  networkPolicy,
  policies,
  monitoring,
  grafana,
  tracing,
});

/** Paths of values that are gone. The schema lets them pass, so that the sentence of templates/_checks.tpl is read in place of its own. */
export const GONE = ['namespaces', 'conversion', 'crds.alpha', 'crds.storageVersion', 'networkPolicy.conversionFrom'];

/** Paths of values that are constants now. The schema lets them pass and nothing reads them, so that they stop no upgrade. */
export const UNREAD = [
  'uploads.limits.secondsPerKilobyte',
  'uploads.limits.frames',
  'uploads.limits.gigapixels',
  'uploads.limits.gapSeconds',
  'uploads.limits.sampleRate',
  'uploads.limits.channels',
  'uploads.limits.tracks',
  'api.rateLimit.windowSeconds',
  'uploads.expireHours',
  'api.previews.perStream',
  'api.previews.seconds',
  'billing.intervalSeconds',
];
