/** The import law of the dashboard: app → features → ui → api → lib. An import never points up. */
const ROOT = '^src/dashboard/';
const layers = ['app', 'features', 'ui', 'api', 'lib'];

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'Two files that need each other are one file.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-cycles-of-folders',
      severity: 'error',
      comment: 'Two folders that need each other are one folder; the part that both need belongs below them.',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
    ...layers.slice(1).map((layer, index) => ({
      name: `${layer}-imports-down`,
      severity: 'error',
      comment: 'A layer knows nothing of the layers above it.',
      from: { path: `${ROOT}${layer}/` },
      to: { path: `${ROOT}(${layers.slice(0, index + 1).join('|')})/` },
    })),
    {
      name: 'drafts-on-top-of-lib',
      severity: 'error',
      from: { path: `${ROOT}lib/[^/]+$` },
      to: { path: `${ROOT}lib/[^/]+/` },
    },
    {
      name: 'no-file-between-layers',
      severity: 'error',
      comment: 'Every module of the page lives in a layer.',
      from: {},
      to: { path: ROOT, pathNot: `${ROOT}(${layers.join('|')})/` },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'src/dashboard/tsconfig.json' },
    includeOnly: ROOT,
    exclude: { path: `${ROOT}vite\\.config\\.ts$` },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
