/**
 * Holds the layers of src/ (docs/architecture.md): a folder imports only folders below it. test/lint/tidy.test.ts checks that files which
 * call themselves pure do no I/O.
 */

/** From the bottom up. A layer imports the layers before it. */
const LAYERS = [
  'lib',
  'settings',
  'kube',
  'resources',
  'protocol',
  'media',
  'db',
  'auth',
  'domain',
  'operator',
  'billing',
  'server',
  'kubectl',
  'core',
  'service',
];

const upward = LAYERS.map((layer, index) => ({
  name: `${layer}-imports-only-layers-below`,
  severity: 'error',
  from: { path: `^src/${layer}/` },
  to: { path: `^src/(${['dashboard', 'client', ...LAYERS.slice(index + 1)].join('|')})/` },
}));

module.exports = {
  forbidden: [
    ...upward,
    {
      name: 'no-cycle-between-files',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-cycle-between-folders',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
    {
      name: 'core-needs-no-service',
      severity: 'error',
      comment:
        'The operator, its pods and the plugin load nothing of the hosted service, so that one can adopt them alone.',
      from: { path: '^src/core/' },
      to: {
        path: '^src/(db|auth|domain|billing|server|service|client|dashboard|settings/service|lib/(mail|paging))/|^src/lib/(operation|scopes|errors)\\.ts$',
        reachable: true,
      },
    },
    {
      name: 'domain-knows-no-transport',
      severity: 'error',
      comment: 'Services and declarations of operations know no HTTP, GraphQL or MCP.',
      from: { path: '^src/((domain|billing|auth)/.*(service|operations)|lib/operation)\\.ts$' },
      to: { path: 'node_modules/(fastify|@fastify|graphql|@modelcontextprotocol|@kubernetes)/' },
    },
    {
      name: 'pods-are-small',
      severity: 'error',
      comment: 'A pod loads no client of Kubernetes, Postgres or Redis.',
      from: { path: '^src/(media|protocol)/' },
      to: { path: '^src/kube/(?!types\\.ts$)|node_modules/(pg|kysely|ioredis|@kubernetes|fastify)/' },
    },
    {
      name: 'operator-and-pods-speak-by-protocol',
      severity: 'error',
      comment: 'The rooms of the pods are their own: what both sides need is in protocol/.',
      from: { path: '^src/(?!core/roles\\.ts$|media/)' },
      to: { path: '^src/media/(streamer|prepare|probe)/' },
    },
    {
      name: 'streamer-and-prepare-apart',
      severity: 'error',
      from: { path: '^src/media/streamer/' },
      to: { path: '^src/media/(prepare|probe)/' },
    },
    {
      name: 'prepare-and-streamer-apart',
      severity: 'error',
      from: { path: '^src/media/prepare/' },
      to: { path: '^src/media/(streamer|probe)/' },
    },
    {
      name: 'probe-and-prepare-apart',
      severity: 'error',
      comment: 'A test of a destination sends as a streamer does; it prepares nothing.',
      from: { path: '^src/media/probe/' },
      to: { path: '^src/media/prepare/' },
    },
    {
      name: 'sql-in-its-place',
      severity: 'error',
      comment: 'SQL lives in store.ts and db/; the auth library is handed its pool in auth/.',
      from: { path: '^src/', pathNot: '^src/(db/|.*/store\\.ts$|auth/better-auth\\.ts$)' },
      to: { path: 'node_modules/(pg|kysely)/' },
    },
    {
      name: 'mcp-in-its-place',
      severity: 'error',
      comment: 'server/mcp/ alone knows the protocol of agents.',
      from: { path: '^src/', pathNot: '^src/server/mcp/' },
      to: { path: 'node_modules/@modelcontextprotocol/' },
    },
    {
      name: 'one-adapter-to-kubernetes',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/kube/' },
      to: { path: 'node_modules/@kubernetes/' },
    },
    {
      name: 'plugin-is-small',
      severity: 'error',
      comment: 'The kubectl plugin is one file that people copy: it has nothing of the servers.',
      from: { path: '^src/kubectl/' },
      to: { path: '^src/(db|auth|domain|operator|billing|server|dashboard|client)/' },
    },
    {
      name: 'client-runs-anywhere',
      severity: 'error',
      comment:
        'The client shares types with the server, and of what runs only the table of errors, the timer and the backoff (test/unit/client/ bundles it for a browser).',
      from: { path: '^src/client/' },
      to: { pathNot: '^src/(client/|lib/(errors|clock|backoff)\\.ts$)', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'client-types-are-records',
      severity: 'error',
      comment: 'A program that uses the client needs types of records, and none of services, stores or processes.',
      from: { path: '^src/client/' },
      to: {
        path: '^src/(server|operator|media|auth|db|kube)/|/(service|store|operations)\\.ts$',
        pathNot: '^src/client/',
        reachable: true,
      },
    },
    {
      name: 'no-tools-in-the-product',
      severity: 'error',
      comment: 'The image contains no development tool.',
      from: { path: '^src/' },
      to: { path: '^tools/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    exclude: { path: '^src/dashboard/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
