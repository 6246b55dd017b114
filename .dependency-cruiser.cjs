/**
 * The import law (CONTRIBUTING.md): which room may look into which. That pure files do no I/O is held by test/tidy.test.ts,
 * which reads in the files themselves whether they are pure.
 */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'Two files that need each other are one room with a wall through it.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'doors-import-services',
      severity: 'error',
      comment: 'A service knows nothing of the doors that lead to it, nor of HTTP, GraphQL, MCP or Kubernetes types.',
      from: { path: '^src/[^/]+/service\\.ts$' },
      to: {
        path: '(^src/(http|graphql|agents)/|/(rest|graphql)\\.ts$|node_modules/(fastify|@fastify|graphql|@modelcontextprotocol|@kubernetes)/)',
      },
    },
    {
      name: 'pods-are-small',
      severity: 'error',
      comment:
        'What runs beside the media loads only the shared nouns, the rendition format, storage and the root files.',
      from: { path: '^src/(streamer|prepare|probe)/' },
      to: {
        path: '^src/',
        pathNot:
          '^src/(streamer|prepare|probe|rendition|storage)/|^src/streams/(spec|names|profile|program|conditions)\\.ts$|^src/uploads/(spec|link|name|warnings)\\.ts$|^src/destinations/(spec|ingest|srt|read|login|placeholders|platforms)\\.ts$|^src/[^/]+\\.ts$',
      },
    },
    {
      name: 'streamer-and-prepare-apart',
      severity: 'error',
      from: { path: '^src/streamer/' },
      to: { path: '^src/(prepare|probe)/' },
    },
    {
      name: 'prepare-and-streamer-apart',
      severity: 'error',
      from: { path: '^src/prepare/' },
      to: { path: '^src/(streamer|probe)/' },
    },
    {
      name: 'probe-and-prepare-apart',
      severity: 'error',
      comment: 'A test sends as a streamer does; it prepares nothing.',
      from: { path: '^src/probe/' },
      to: { path: '^src/prepare/' },
    },
    {
      name: 'sql-in-its-place',
      severity: 'error',
      comment: 'SQL lives in store.ts and db/; better-auth is handed the pool in auth/.',
      from: { path: '^src/', pathNot: '^src/(db/|[^/]+/store\\.ts$|auth/better-auth\\.ts$|local/)' },
      to: { path: 'node_modules/(pg|kysely)/' },
    },
    {
      name: 'tools-in-their-room',
      severity: 'error',
      comment: 'The protocol of agents is known in agents/ alone.',
      from: { path: '^src/', pathNot: '^src/agents/' },
      to: { path: 'node_modules/@modelcontextprotocol/' },
    },
    {
      name: 'one-adapter-to-kubernetes',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/kube/' },
      to: { path: 'node_modules/@kubernetes/' },
    },
    {
      name: 'client-runs-anywhere',
      severity: 'error',
      comment:
        'The client shares types with the server, and of what runs only the table of errors and the timer (test/client/ bundles it for a browser).',
      from: { path: '^src/client/' },
      to: { pathNot: '^src/(client/|errors\\.ts$|clock\\.ts$)', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'local-is-a-secret',
      severity: 'error',
      comment: 'The embedded default starts the real parts; no part knows that it exists. main.ts is the switch.',
      from: { path: '^src/', pathNot: '^src/(local/|main\\.ts$)' },
      to: { path: '^src/local/' },
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
