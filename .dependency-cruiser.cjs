/**
 * Holds the layers of src/ (docs/architecture.md): a folder imports only folders below it. test/lint/tidy.test.ts checks that files which
 * call themselves pure do no I/O.
 */

/** From the bottom up. A layer imports the layers before it, and core/ imports nothing of service/. */
const CORE = [
  'lib',
  'settings',
  'kube',
  'resources',
  'programme',
  'protocol',
  'pods',
  'operator',
  'platform',
  'kubectl',
];
const SERVICE = ['lib', 'settings', 'db', 'auth', 'domain', 'billing', 'server'];

const upward = (house, layers) =>
  layers.slice(0, -1).map((layer, index) => ({
    name: `${house}-${layer}-imports-only-layers-below`,
    severity: 'error',
    from: { path: `^src/${house}/${layer}/` },
    to: { path: `^src/${house}/(${layers.slice(index + 1).join('|')})/` },
  }));

module.exports = {
  forbidden: [
    ...upward('core', CORE),
    ...upward('service', SERVICE),
    {
      name: 'core-needs-no-service',
      severity: 'error',
      comment: 'One can adopt the operator, its pods and the plugin without the hosted service (scripts/check-core).',
      from: { path: '^src/core/' },
      to: { path: '^src/(service|dashboard)/' },
    },
    {
      name: 'service-knows-no-page',
      severity: 'error',
      from: { path: '^src/service/(?!client/)' },
      to: { path: '^src/(dashboard|service/client)/' },
    },
    {
      name: 'domain-and-operator-apart',
      severity: 'error',
      comment: 'They meet in the resources alone.',
      from: { path: '^src/service/(lib|settings|db|auth|domain)/' },
      to: { path: '^src/core/(operator|platform|kubectl)/' },
    },
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
      name: 'domain-knows-no-transport',
      severity: 'error',
      comment: 'Services and declarations of operations know no HTTP, GraphQL or MCP.',
      from: { path: '^src/service/((domain|billing|auth)/.*(service|operations)|lib/operation)\\.ts$' },
      to: { path: 'node_modules/(fastify|@fastify|graphql|@modelcontextprotocol|@kubernetes)/' },
    },
    {
      name: 'pods-are-small',
      severity: 'error',
      comment: 'A pod loads no client of Kubernetes, Postgres or Redis.',
      from: { path: '^src/core/(pods|protocol)/' },
      to: { path: '^src/core/kube/(?!types\\.ts$)|node_modules/(pg|kysely|ioredis|@kubernetes|fastify)/' },
    },
    {
      name: 'operator-and-pods-speak-by-protocol',
      severity: 'error',
      comment: 'The rooms of the pods are their own: what both sides need is in protocol/.',
      from: { path: '^src/(?!core/roles\\.ts$|core/pods/)' },
      to: { path: '^src/core/pods/(streamer|prepare|probe)/' },
    },
    {
      name: 'streamer-and-prepare-apart',
      severity: 'error',
      from: { path: '^src/core/pods/streamer/' },
      to: { path: '^src/core/pods/(prepare|probe)/' },
    },
    {
      name: 'prepare-and-streamer-apart',
      severity: 'error',
      from: { path: '^src/core/pods/prepare/' },
      to: { path: '^src/core/pods/(streamer|probe)/' },
    },
    {
      name: 'probe-and-prepare-apart',
      severity: 'error',
      comment: 'A test of a destination sends as a streamer does; it prepares nothing.',
      from: { path: '^src/core/pods/probe/' },
      to: { path: '^src/core/pods/prepare/' },
    },
    {
      name: 'sql-in-its-place',
      severity: 'error',
      comment: 'SQL lives in stores and db/; the auth library is handed its pool in auth/.',
      from: { path: '^src/', pathNot: '^src/service/(db/|.*[/-]store\\.ts$|auth/better-auth\\.ts$)' },
      to: { path: 'node_modules/(pg|kysely)/' },
    },
    {
      name: 'mcp-in-its-place',
      severity: 'error',
      comment: 'server/mcp/ alone knows the protocol of agents.',
      from: { path: '^src/', pathNot: '^src/service/server/mcp/' },
      to: { path: 'node_modules/@modelcontextprotocol/' },
    },
    {
      name: 'one-adapter-to-kubernetes',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/core/kube/' },
      to: { path: 'node_modules/@kubernetes/' },
    },
    {
      name: 'plugin-is-small',
      severity: 'error',
      comment: 'The kubectl plugin is one file that people copy: it has nothing of the servers.',
      from: { path: '^src/core/kubectl/' },
      to: { path: '^src/(service|dashboard|core/(operator|platform))/' },
    },
    {
      name: 'client-runs-anywhere',
      severity: 'error',
      comment:
        'The client shares types with the server, and of what runs only the table of errors, the timer, the backoff and the check of webhooks (test/unit/client/ bundles it for a browser).',
      from: { path: '^src/service/client/' },
      to: {
        pathNot:
          '^src/(service/client/|service/lib/errors\\.ts$|core/lib/(clock|backoff)\\.ts$)|^node_modules/standardwebhooks/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'client-types-are-records',
      severity: 'error',
      comment: 'A program that uses the client needs types of records, and none of services, stores or processes.',
      from: { path: '^src/service/client/' },
      to: {
        path: '^src/(service/(server|auth|db)|core/(operator|pods|kube))/|/(service|store|operations)\\.ts$',
        pathNot: '^src/service/client/',
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
