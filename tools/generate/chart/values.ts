/** Every value of the chart: values.yaml, values.schema.json and the table of its README are made of this. Pure: no I/O, no clock. */
import { SETTINGS } from '../../../src/settings/table.ts';
import { networkPolicy, policies, streamsNamespace } from './isolation.ts';
import { limits, resourceQuota } from './limits.ts';
import { crypto, invoices, stripe } from './money.ts';
import { grafana, monitoring } from './monitoring.ts';
import { choice, flag, group, list, name, native, secretName, strings, text, type Value, whole } from './schema.ts';
import { valueFor } from './settings.ts';
import { uploads } from './uploads.ts';
import { mail, oidc } from './users.ts';

const DNS_LABEL = '^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$';
const QUANTITY = '^[0-9]+(\\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi)?$';

const account = (who: string): Value =>
  group(`The ServiceAccount of the ${who}.`, {
    create: flag('Make it. Otherwise it is there already.', true),
    name: name('Its name; made from the release when empty.'),
    annotations: strings('Annotations of it, e.g. for a cloud identity.'),
  });

/** The values that each Deployment has. */
const deployment = (who: string, resources: unknown) => ({
  resources: native(`Resources of the ${who}'s container.`, resources),
  serviceAccount: account(who),
  pdb: group(`PodDisruptionBudget of the ${who}, from two replicas on.`, {
    enabled: flag('Make it.', true),
    maxUnavailable: whole('Pods that a drain may take away at a time.', 1, 1),
  }),
  podLabels: strings('Labels of its pods.'),
  podAnnotations: strings('Annotations of its pods.'),
  extraEnv: list('Environment variables besides the chart’s own (core/v1 EnvVar).', { type: 'object' }),
  nodeSelector: strings('Labels of the nodes that it may run on.'),
  tolerations: native('Taints that it tolerates (core/v1 Toleration).', []),
  affinity: native('Affinity of its pods (core/v1 Affinity).'),
  topologySpreadConstraints: native(
    'How its pods are spread (core/v1 TopologySpreadConstraint); over nodes and zones, where possible, when empty.',
    [],
  ),
  priorityClassName: text('PriorityClass of its pods.'),
});

const image = group('The one image of every role. Build it from the Dockerfile and push it to a registry of yours.', {
  registry: text('Registry host, e.g. `registry.example.com`.'),
  repository: text('Repository, with its path.', 'loopstream', { minLength: 1 }),
  tag: text('Tag; the chart’s appVersion when empty.'),
  digest: text('Digest, which wins over the tag.', '', { pattern: '^(sha256:[0-9a-f]{64})?$' }),
  pullPolicy: choice('When it is pulled.', 'IfNotPresent', ['Always', 'IfNotPresent', 'Never']),
});

const storage = group('Where media is kept.', {
  type: choice('`file`: a volume that many pods mount. `s3`: S3 or a server that speaks it.', 'file', ['file', 's3']),
  file: group('For `file`: a volume in each watched namespace.', {
    existingClaim: name('A PersistentVolumeClaim that is there already, by this name in each watched namespace.'),
    apiClaim: name(
      'A PersistentVolumeClaim in the release’s namespace that leads to the same files, for the API server where it writes in another one. Without it, uploads come from links alone.',
    ),
    volume: native('Another volume source in its place, e.g. `{csi: {…}}` (core/v1 VolumeSource).'),
    size: text('Size of the claim that the chart makes otherwise.', '100Gi', { pattern: QUANTITY }),
    storageClass: text('StorageClass of that claim; the cluster’s default when empty.'),
    accessModes: list(
      'Access modes of that claim. ReadWriteOnce does for a single node.',
      { enum: ['ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'] },
      ['ReadWriteMany'],
      { minItems: 1 },
    ),
    keep: flag('Leave that claim, and the media, when the release is uninstalled.', true),
    mountPath: text('Where pods mount it.', '/media', { pattern: '^/[^?#]+$' }),
  }),
  s3: group('For `s3`.', {
    bucket: text('Bucket.', '', { pattern: '^[A-Za-z0-9._-]*$' }),
    prefix: text('Prefix of every key, without slashes around it.', '', { pattern: '^([^/?#]+(/[^/?#]+)*)?$' }),
    perNamespace: flag(
      'Add the watched namespace to the prefix. Without it, namespaces that share a bucket may not sweep.',
      true,
    ),
    endpoint: text('Address of a server other than AWS.', '', { pattern: '^(https?://.+)?$' }),
    region: text('Region.'),
    forcePathStyle: flag('The bucket is in the path of the URL rather than in the host.', false),
    existingSecret: secretName(
      'A Secret with the keys `accessKeyId` and `secretAccessKey`, in each watched namespace.',
    ),
    apiSecret: secretName(
      'The same in the release’s namespace, for the API server where it writes in another one; `existingSecret` when empty, where `namespaces` is empty too.',
    ),
    readOnlySecret: secretName(
      'A Secret like it whose keys may only read, for the pods of streams; they get the other one when empty.',
    ),
    accessKeyId: text('Access key, for a Secret that the chart makes. Without both, the pods’ own identity counts.'),
    secretAccessKey: text('Secret access key, for a Secret that the chart makes.'),
    cacheBytes: whole('Disk that a stream takes to keep what it plays.', 2 * 2 ** 30, 256 * 2 ** 20),
  }),
  scratchVolume: native(
    'Volume source for what a Job works on (core/v1 VolumeSource); an emptyDir of 64 GiB when empty.',
  ),
});

const jobs = group(
  'Where Jobs and tests of destinations run: they open strangers’ files and reach strangers’ servers.',
  {
    runtimeClassName: text('RuntimeClass that runs their pods, e.g. one of gVisor or Kata Containers.'),
    nodeSelector: strings('Labels of the nodes that they may run on.'),
    tolerations: native('Taints that they tolerate (core/v1 Toleration).', []),
    affinity: native('Affinity of their pods (core/v1 Affinity).'),
    priorityClassName: text('PriorityClass of their pods.'),
  },
);

const operator = group('The operator.', {
  replicas: whole('Replicas; one leads. More than one needs leaderElection.', 2, 1, 10),
  leaderElection: valueFor('LEADER_ELECTION'),
  workers: valueFor('WORKERS'),
  importConcurrency: valueFor('IMPORT_CONCURRENCY'),
  prepareConcurrency: valueFor('PREPARE_CONCURRENCY'),
  maxPrepareSeconds: valueFor('MAX_PREPARE_SECONDS'),
  shareRenditions: valueFor('SHARE_RENDITIONS'),
  rolloutSeconds: valueFor('ROLLOUT_SECONDS'),
  metered: flag('Somebody counts what streams use: their sessions are kept until they are acknowledged.', false),
  allowPrivateLinks: valueFor('ALLOW_PRIVATE_LINKS'),
  allowPrivateDestinations: valueFor('ALLOW_PRIVATE_DESTINATIONS'),
  sweep: group('Clearing away of media.', {
    enabled: valueFor('SWEEP'),
    graceHours: valueFor('SWEEP_GRACE_HOURS'),
    keepUnusedDays: valueFor('KEEP_UNUSED_DAYS'),
  }),
  ...deployment('operator', {
    requests: { cpu: '50m', memory: '128Mi' },
    limits: { memory: '768Mi' },
  }),
});

const confine = valueFor('CONFINE');

const exposure = {
  service: group('The Service of the API server.', {
    type: choice('Type.', 'ClusterIP', ['ClusterIP', 'NodePort', 'LoadBalancer']),
    port: whole('Port.', 80, 1, 65_535),
    annotations: strings('Annotations of it.'),
  }),
  ingress: group('An Ingress to it.', {
    enabled: flag('Make it.', false),
    className: text('IngressClass.'),
    annotations: strings('Annotations of it.'),
    hosts: list('Host names.', { type: 'string', minLength: 1 }),
    path: text('Path prefix.', '/', { pattern: '^/' }),
    tlsSecret: secretName('Secret with the certificate; no TLS when empty.'),
  }),
  httpRoute: group('An HTTPRoute to it (Gateway API).', {
    enabled: flag('Make it.', false),
    annotations: strings('Annotations of it.'),
    parentRefs: list('Gateways that it belongs to (ParentReference).', {
      type: 'object',
      required: ['name'],
    }),
    hostnames: list('Host names.', { type: 'string', minLength: 1 }),
  }),
};

const api = group('The API server: REST, GraphQL and the page. Leave it out to work with kubectl alone.', {
  enabled: flag('Install it. It needs PostgreSQL.', true),
  replicas: whole('Replicas, where autoscaling is off.', 2, 0, 100),
  namespace: name('The watched namespace in which it writes; the first one when empty.'),
  publicUrl: { ...valueFor('PUBLIC_URL'), pattern: '^(https?://[^/]+.*)?$' },
  rateLimit: group('How much each account, and each address without a key, may ask for.', {
    requests: valueFor('RATE_LIMIT_REQUESTS'),
    windowSeconds: valueFor('RATE_LIMIT_WINDOW_SECONDS'),
  }),
  accessLimits: group('Against the guessing of passwords and floods of mails and clients; each for one address.', {
    signInAttempts: valueFor('SIGN_IN_ATTEMPTS'),
    clientRegistrations: valueFor('CLIENT_REGISTRATIONS'),
    mailsPerHour: valueFor('MAILS_PER_HOUR'),
    unusedClientDays: valueFor('UNUSED_CLIENT_DAYS'),
  }),
  previews: group('Live previews that one server shows at the same time.', {
    perStream: valueFor('PREVIEWS_PER_STREAM'),
    perServer: valueFor('PREVIEWS_PER_SERVER'),
    seconds: valueFor('PREVIEW_SECONDS'),
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
    'How long a pod that is to end goes on as before, so that the Service and load balancers can let go of it.',
    5,
    0,
    600,
  ),
  scopePrefix: text('What the scopes of access tokens begin with.', 'service', { pattern: '^[a-z][a-z0-9_-]*$' }),
  auth: group('What signs sessions.', {
    existingSecret: secretName('A Secret that holds it.'),
    existingSecretKey: text('Its key in that Secret.', 'authSecret', { minLength: 1 }),
    secret: text('It itself, 32 characters or more, for a Secret that the chart makes.', '', {
      pattern: '^(.{32,})?$',
    }),
  }),
  signUp: valueFor('SIGN_UP'),
  autoscaling: group('HorizontalPodAutoscaler of the API server.', {
    enabled: flag('Make it.', false),
    minReplicas: whole('The least replicas.', 2, 1),
    maxReplicas: whole('The most replicas.', 10, 1),
    cpuPercent: whole('CPU to aim at, in percent of what is requested.', 70, 1, 1000),
  }),
  ...exposure,
  ...deployment('API server', {
    requests: { cpu: '100m', memory: '192Mi' },
    limits: { memory: '512Mi' },
  }),
});

const database = group('PostgreSQL, for the API server.', {
  existingSecret: secretName('A Secret that holds its URL.'),
  existingSecretKey: text('The URL’s key in that Secret.', 'databaseUrl', { minLength: 1 }),
  url: text('The URL itself, for a Secret that the chart makes.', '', { pattern: '^(postgres(ql)?://.+)?$' }),
  migrations: group('The Job that brings the database up to date, before an install and before each upgrade.', {
    enabled: flag('Run it.', true),
    timeoutSeconds: whole('Time that it may take.', 600, 1),
    resources: native('Resources of its container.', {
      requests: { cpu: '50m', memory: '128Mi' },
      limits: { memory: '512Mi' },
    }),
  }),
});

const billing = group('Streams cost credits: what they use is counted and charged, and stops where nothing is left.', {
  enabled: flag('Install it. It needs the API server; the operator then keeps what is not counted yet.', false),
  replicas: whole('Replicas; each job is done by one of them.', 2, 0, 10),
  currency: text('What money is counted in (ISO 4217).', 'USD', { pattern: '^[A-Z]{3}$' }),
  prices: native(
    'What an hour on air costs: a list of `quality`, `framerate`, `creditsPerHour` and, for later ones, `from`. The default list when empty.',
    [],
  ),
  stripe,
  invoices,
  crypto,
  intervalSeconds: valueFor('METER_INTERVAL_SECONDS'),
  graceSeconds: valueFor('CREDIT_GRACE_SECONDS'),
  ...deployment('role billing', {
    requests: { cpu: '50m', memory: '128Mi' },
    limits: { memory: '512Mi' },
  }),
});

const redis = group(
  'Redis, in which the API server counts requests for all replicas; without it each counts its own.',
  {
    existingSecret: secretName('A Secret that holds its URL.'),
    existingSecretKey: text('The URL’s key in that Secret.', 'redisUrl', { minLength: 1 }),
    url: text('The URL itself, for a Secret that the chart makes.', '', { pattern: '^(rediss?://.+)?$' }),
  },
);

export const VALUES = group('Values of the chart loopstream.', {
  nameOverride: name('The chart’s name in names and labels.'),
  fullnameOverride: text('What the names of all objects begin with.', '', { pattern: DNS_LABEL, maxLength: 40 }),
  namespaces: list(
    'Namespaces whose streams are looked after, each by an operator of its own; `streamsNamespace` alone when empty. They must exist.',
    { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 },
    [],
    { uniqueItems: true },
  ),
  streamsNamespace,
  commonLabels: strings('Labels of every object.'),
  commonAnnotations: strings('Annotations of every object.'),
  image,
  imagePullSecrets: list(
    'Secrets to pull the image with, for the API server and the operator. Streams and Jobs run as the ServiceAccount `default` of their namespace and pull with the Secrets that it names.',
    { type: 'object', required: ['name'], additionalProperties: false, properties: { name: { type: 'string' } } },
  ),
  logLevel: choice('Log level of every role.', 'info', ['trace', 'debug', 'info', 'warn', 'error', 'fatal']),
  crds: group('The CustomResourceDefinitions.', {
    install: flag('Install them. Off for a second release in the same cluster.', true),
    keep: flag('Leave them, and with them every stream, when the release is uninstalled.', true),
  }),
  rbac: group('Roles and RoleBindings.', {
    create: flag('Make them, in each watched namespace.', true),
    nodes: flag(
      'Let the operator look at nodes, so that a stream leaves one that is cordoned before its pod has to.',
      true,
    ),
    finalizers: flag(
      'Let finalizers be removed from streams of a namespace that is deleted, and of all when the release is uninstalled: without this such a namespace stays until somebody does it (`loopstream remove-finalizers`).',
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
  database,
  redis,
  mail,
  oidc,
  networkPolicy,
  policies,
  monitoring,
  grafana,
});
