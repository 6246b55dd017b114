/** Lists values of installations: one for each part that the chart can make, and their combinations. */
import { ETHEREUM } from '../../make/crypto-settings.ts';
import type { Values } from './index.ts';

const SECRET = 'a-secret-that-nobody-can-guess-0123456789';
const database = { existingSecret: 'db', existingSecretKey: 'url' };
const auth = { existingSecret: 'auth' };
export const OPERATOR_ONLY = { api: { enabled: false } };
export const INLINE = { database: { url: 'postgres://u:p@db/loops' }, api: { auth: { secret: SECRET } } };

export const SELLER = {
  name: 'Loops',
  address: ['Dublin'],
  country: 'IE',
  taxes: [{ name: 'VAT', ratePercent: '23' }],
};

const placed = {
  podLabels: { team: 'video' },
  podAnnotations: { note: 'yes' },
  nodeSelector: { disk: 'fast' },
  tolerations: [{ key: 'video', operator: 'Exists', effect: 'NoSchedule' }],
  affinity: { nodeAffinity: {} },
  topologySpreadConstraints: [
    { maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { a: 'b' } } },
  ],
  priorityClassName: 'system-cluster-critical',
  extraEnv: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
  serviceAccount: { annotations: { 'example.com/role': 'loops' } },
};

export const COMBINATIONS: Record<string, Values> = {
  'the operator alone': OPERATOR_ONLY,
  'all of it, with credentials in the values': INLINE,
  'with billing, at prices of its own': {
    ...INLINE,
    billing: {
      enabled: true,
      graceSeconds: 3600,
      currency: 'EUR',
      prices: [{ quality: '720p', framerate: 30, creditsPerHour: 250, from: '2027-01-01T00:00:00Z' }],
      extraEnv: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
    },
    monitoring: { serviceMonitor: { enabled: true } },
  },
  'with billing and crypto deposits': {
    ...INLINE,
    billing: {
      enabled: true,
      crypto: { existingSecret: 'chains', rates: { currency: 'USD', prices: { ETH: '3000' } }, quoteSeconds: 600 },
    },
  },
  'with all ways to pay, and invoices': {
    ...INLINE,
    billing: {
      enabled: true,
      stripe: { existingSecret: 'stripe', webhookSecretKey: 'signing', minMinor: 1000, maxMinor: 50_000 },
      invoices: {
        seller: SELLER,
        font: 'NotoSansCJK-Regular.ttc#NotoSansCJKjp-Regular',
        fontVolume: { persistentVolumeClaim: { claimName: 'fonts' } },
      },
      crypto: { networks: [ETHEREUM], ratesUrl: 'https://rates.example.com/usd' },
    },
  },
  'existing Secrets and S3': {
    database,
    api: { auth },
    storage: { type: 's3', s3: { bucket: 'media', prefix: 'a/b', region: 'eu-central-1', existingSecret: 's3' } },
  },
  'a server that speaks S3, for three namespaces': {
    ...INLINE,
    watchNamespaces: ['loopstream', 'team-a', 'team-b'],
    storage: {
      type: 's3',
      s3: {
        bucket: 'media',
        endpoint: 'http://minio.example.com:9000',
        forcePathStyle: true,
        accessKeyId: 'id',
        secretAccessKey: 'key',
      },
      scratchVolume: { ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'] } } } },
    },
  },
  'streams in the namespace of the release': { ...INLINE, streamsNamespace: { name: 'loopstream' } },
  'a claim of the API server’s own': {
    ...INLINE,
    storage: { file: { existingClaim: 'media', apiClaim: 'media-of-the-api' } },
  },
  'a namespace that is there, bounds for its people, and networks that are private here': {
    ...INLINE,
    streamsNamespace: { name: 'team-a', create: false },
    policies: {
      images: ['registry.example.com/loopstream-old'],
      template: { enabled: true, priorityClassNames: ['streams'], runtimeClassNames: ['gvisor'], metadata: false },
      destinations: { secretPrefix: 'rtmp-' },
    },
    networkPolicy: {
      privateNetworks: ['203.0.113.0/24', '2001:4860::/32', 'fd00::/8'],
      mediaAlsoTo: [{ to: [{ ipBlock: { cidr: '10.9.0.5/32' } }], ports: [{ port: 1935 }] }],
      storageTo: [{ to: [{ ipBlock: { cidr: '10.9.0.6/32' } }] }],
      dnsTo: [{ namespaceSelector: {} }],
    },
  },
  'namespaces without the release’s own': {
    database,
    watchNamespaces: ['team-a', 'team-b'],
    api: { auth, namespace: 'team-b' },
    storage: { file: { existingClaim: 'media' } },
  },
  'all namespaces of the cluster, one of them with all that it needs': {
    ...INLINE,
    watchNamespaces: ['*', 'team-a'],
    storage: { type: 's3', s3: { bucket: 'media', existingSecret: 's3', apiSecret: 's3' } },
    policies: { accountLabel: false, template: { enabled: true }, destinations: { secretPrefix: 'rtmp-' } },
    monitoring: { podMonitor: { enabled: true } },
  },
  'all namespaces of the cluster, and one for the streams of the API server': { ...INLINE, watchNamespaces: ['*'] },
  'what viewers see, in all namespaces of the cluster': {
    ...INLINE,
    watchNamespaces: ['*', 'team-a'],
    storage: { type: 's3', s3: { bucket: 'media', existingSecret: 's3', apiSecret: 's3' } },
    platform: {
      enabled: true,
      replicas: 2,
      existingSecret: 'platforms',
      youtube: { clientId: '1', budgetUnits: 50_000 },
    },
    networkPolicy: { kubernetesTo: [{ ipBlock: { cidr: '192.0.2.1/32' } }] },
    monitoring: { serviceMonitor: { enabled: true } },
  },
  'what viewers see, beside the operator alone': {
    ...OPERATOR_ONLY,
    platform: { enabled: true, allowPrivateWatch: true, ...placed },
  },
  'accounts in three namespaces, two with an operator of their own': {
    ...INLINE,
    api: { ...INLINE.api, cellNamespaces: ['cell-2', 'cell-3'], fullNamespaces: ['cell-2'] },
    billing: { enabled: true },
    storage: { type: 's3', s3: { bucket: 'media' } },
  },
  'one operator without an election, another volume, no cluster objects': {
    ...OPERATOR_ONLY,
    operator: { replicas: 1, leaderElection: false, sweep: { enabled: false }, pdb: { enabled: false } },
    storage: { file: { volume: { csi: { driver: 'nfs.example.com' } }, mountPath: '/srv/media' } },
    policies: { enabled: false },
    crds: { install: false },
    rbac: { create: false },
    networkPolicy: { enabled: false },
  },
  'names and images of one’s own': {
    ...INLINE,
    fullnameOverride: 'loops',
    nameOverride: 'l',
    commonLabels: { team: 'video', 'app.kubernetes.io/name': 'not-this' },
    commonAnnotations: { 'example.com/owner': 'sre' },
    image: { registry: 'registry.example.com/', repository: 'video/loops', digest: `sha256:${'a'.repeat(64)}` },
    imagePullSecrets: [{ name: 'pull' }],
    logLevel: 'debug',
    crds: { keep: false },
  },
  'definitions with annotations': { ...OPERATOR_ONLY, crds: { annotations: { 'example.com/owner': 'sre' } } },
  'placed with care': { database, operator: placed, api: { auth, ...placed } },
  'scaled and public by an Ingress': {
    database,
    mail: { url: 'smtps://loops:word@mail.example.com', from: 'Loops <loops@example.com>' },
    api: {
      auth,
      publicUrl: 'https://loops.example.com',
      autoscaling: { enabled: true, maxReplicas: 20 },
      service: { type: 'LoadBalancer', annotations: { a: 'b' } },
      ingress: {
        enabled: true,
        className: 'nginx',
        hosts: ['loops.example.com', 'www.example.com'],
        tlsSecret: 'tls',
        annotations: { c: 'd' },
      },
    },
    networkPolicy: {
      apiFrom: [{ namespaceSelector: { matchLabels: { ingress: 'yes' } } }],
      mediaTo: [{ to: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['10.0.0.0/8'] } }] }],
    },
  },
  'a Gateway and the Prometheus operator': {
    ...INLINE,
    mail: { existingSecret: 'mail', from: 'loops@example.com' },
    api: {
      ...INLINE.api,
      httpRoute: {
        enabled: true,
        parentRefs: [{ name: 'public', namespace: 'gateways' }],
        hostnames: ['l.example.com'],
      },
    },
    monitoring: {
      serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
      podMonitor: { enabled: true, interval: '15s' },
      prometheusRule: {
        enabled: true,
        runbookUrl: 'https://runbooks.example.com/loopstream',
        groups: [{ name: 'loops', rules: [{ alert: 'Never', expr: 'vector(0) > 1', labels: { severity: 'info' } }] }],
      },
    },
    grafana: { dashboards: { enabled: true, annotations: { folder: 'Video' } } },
  },
  'rules of one’s own and dashboards elsewhere': {
    ...OPERATOR_ONLY,
    watchNamespaces: ['team-a', 'team-b'],
    monitoring: {
      serviceMonitor: { enabled: true, interval: '1m' },
      podMonitor: { enabled: true, labels: { release: 'prometheus' } },
      prometheusRule: { enabled: true, alerts: false, labels: { role: 'alerts' } },
    },
    grafana: { dashboards: { enabled: true, label: 'dashboards', labelValue: 'yes', namespace: 'team-a' } },
  },
};

/** Refused values and the message: Helm 3.18.0 and later use different libraries for the schema. */
export const REFUSED: [what: string, values: Values, says: RegExp][] = [
  ['billing without the API server', { ...OPERATOR_ONLY, billing: { enabled: true } }, /billing needs the API server/],
  [
    'crypto deposits without prices',
    { ...INLINE, billing: { enabled: true, crypto: { existingSecret: 'chains' } } },
    /set one of billing\.crypto\.rates and billing\.crypto\.ratesUrl/,
  ],
  [
    'networks in a Secret and in the values',
    { ...INLINE, billing: { enabled: true, crypto: { existingSecret: 'chains', networks: [ETHEREUM] } } },
    /exclude each other/,
  ],
  [
    'a network without confirmations',
    { ...INLINE, billing: { enabled: true, crypto: { networks: [{ network: 'x', kind: 'evm', xpub: 'y' }] } } },
    /networks.*(missing property.*confirmations|confirmations is required)/is,
  ],
  [
    'a font that is nowhere',
    { ...INLINE, billing: { enabled: true, invoices: { font: 'a.ttf' } } },
    /billing\.invoices\.fontVolume is empty/,
  ],
  [
    'a top-up that cannot be',
    { ...INLINE, billing: { enabled: true, stripe: { minMinor: 2, maxMinor: 1 } } },
    /minMinor is more than billing\.stripe\.maxMinor/,
  ],
  ['a value that does not exist', { operater: {} }, /additional propert(ies 'operater'|y operater is) not allowed/i],
  [
    'one that does not exist further in',
    { api: { ingress: { host: 'x' } } },
    /additional propert(ies 'host'|y host is) not allowed/i,
  ],
  [
    'a number as text',
    { operator: { replicas: '2' } },
    /operator.replicas.*\n?.*(got string, want integer|expected: integer, given: string)/is,
  ],
  ['too many replicas', { operator: { replicas: 11 } }, /operator.replicas.*(maximum|less than or equal to).*10/is],
  [
    'a storage that does not exist',
    { storage: { type: 'nfs' } },
    /storage.type.*one of ('file', 's3'|the following: "file", "s3")/is,
  ],
  ['a log level that does not exist', { logLevel: 'verbose' }, /logLevel.*one of ('trace'|the following: "trace")/is],
  ['a digest that is none', { image: { digest: 'latest' } }, /image.digest.*does not match pattern/is],
  [
    'a cache that is too small',
    { storage: { s3: { cacheBytes: 1 } } },
    /cacheBytes.*(minimum|greater than or equal to)/is,
  ],
  ['a secret that can be guessed', { api: { auth: { secret: 'short' } } }, /api.auth.secret.*does not match pattern/is],
  ['a namespace that cannot be', { watchNamespaces: ['Team_A'] }, /watchNamespaces.0.*does not match pattern/is],
  [
    'the older name of the value',
    { ...OPERATOR_ONLY, namespaces: ['a', 'b'] },
    /Write watchNamespaces: \["a","b"\] instead/,
  ],
  ['two operators without an election', { ...OPERATOR_ONLY, operator: { leaderElection: false } }, /must be true/],
  ['an API server without a database', { api: { auth } }, /set database\.existingSecret or database\.url/],
  ['an API server without a secret', { database }, /set api\.auth\.existingSecret/],
  ['two databases', { ...INLINE, database: { ...INLINE.database, existingSecret: 'x' } }, /exclude each other/],
  ['mail from nobody', { ...INLINE, mail: { existingSecret: 'mail' } }, /mail\.from is empty/],
  ['S3 without a bucket', { ...OPERATOR_ONLY, storage: { type: 's3' } }, /storage\.s3\.bucket is empty/],
  [
    'half of the credentials',
    { ...OPERATOR_ONLY, storage: { type: 's3', s3: { bucket: 'b', accessKeyId: 'x' } } },
    /set both or neither/,
  ],
  [
    'namespaces that would clear away each other’s media',
    {
      ...OPERATOR_ONLY,
      watchNamespaces: ['a', 'b'],
      storage: { type: 's3', s3: { bucket: 'b', perNamespace: false } },
    },
    /operator\.sweep\.enabled=false/,
  ],
  [
    'all namespaces, with media in one volume',
    { ...OPERATOR_ONLY, watchNamespaces: ['*'], storage: { file: { volume: { nfs: { server: 'nas', path: '/m' } } } } },
    /share storage\.file\.volume/,
  ],
  [
    'an API server that writes where nobody looks',
    { database, api: { auth, namespace: 'elsewhere' } },
    /not among the watched namespaces/,
  ],
  [
    'cells whose media the API server cannot reach',
    {
      ...INLINE,
      api: { ...INLINE.api, cellNamespaces: ['cell-2'] },
      streamsNamespace: { name: 'loopstream' },
    },
    /api\.cellNamespaces needs a storage/,
  ],
  [
    'cells that would clear away each other’s media',
    {
      ...INLINE,
      api: { ...INLINE.api, cellNamespaces: ['cell-2'] },
      storage: { type: 's3', s3: { bucket: 'b', perNamespace: false } },
    },
    /share one prefix of the bucket/,
  ],
  [
    'cells that are all full',
    { ...INLINE, api: { ...INLINE.api, fullNamespaces: ['loopstream-streams'] } },
    /api\.fullNamespaces names all namespaces of accounts/,
  ],
  [
    'namespaces, and another one for streams',
    { ...INLINE, watchNamespaces: ['a'], streamsNamespace: { name: 'b' } },
    /watchNamespaces and streamsNamespace\.name exclude each other/,
  ],
  [
    'a webhook that is gone',
    { ...OPERATOR_ONLY, conversion: { existingSecret: 'webhook' }, networkPolicy: { conversionFrom: [] } },
    /conversion, networkPolicy\.conversionFrom: v1beta1 is the only version now.*Remove these values.*docs\/upgrade\.md/,
  ],
  [
    'a version that is gone',
    { ...OPERATOR_ONLY, crds: { alpha: false, storageVersion: 'v1alpha1' } },
    /crds\.alpha, crds\.storageVersion: v1beta1 is the only version now/,
  ],
  ['an Ingress without a host', { database, api: { auth, ingress: { enabled: true } } }, /Name the hosts/],
];
