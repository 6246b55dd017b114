/** Builds Grafana's JSON of a dashboard from rows of panels. Pure: no I/O, no clock. */

export interface Query {
  expr: string;
  legend?: string;
}

export interface Panel {
  title: string;
  /** Explains the panel and its normal values to a first-time reader. */
  about: string;
  kind?: 'timeseries' | 'stat' | 'table';
  /** One of Grafana's units: `short`, `s`, `bytes`, `bps`, `percentunit`, `ops`, `dateTimeAsIso`. */
  unit?: string;
  /** Columns of 24. */
  width?: number;
  /** Series are drawn one upon the other. */
  stacked?: boolean;
  /** From this value on it is red. */
  bad?: number;
  /** A number that only says that something is so: its name is shown. */
  named?: boolean;
  queries: Query[];
}

export interface Variable {
  name: string;
  /** The query for the variable's values. */
  query: string;
  multi?: boolean;
}

export interface Dashboard {
  uid: string;
  title: string;
  description: string;
  variables: Variable[];
  rows: { title: string; panels: Panel[] }[];
}

/** How queries are written again and again. */
export const RATE = '[$__rate_interval]';
export const RANGE = '[$__range]';
export const number = (title: string, about: string, expr: string, more: Partial<Panel> = {}): Panel => ({
  title,
  about,
  kind: 'stat',
  queries: [{ expr }],
  ...more,
});
export const graph = (
  title: string,
  about: string,
  unit: string,
  queries: [expr: string, legend: string][],
  more: Partial<Panel> = {},
): Panel => ({
  title,
  about,
  unit,
  queries: queries.map(([expr, legend]) => ({ expr, legend })),
  ...more,
});
export const quantile = (q: number, by: string, histogram: string, window = RATE): string =>
  `histogram_quantile(${q}, sum by (le${by}) (rate(${histogram}${window})))`;

const DATASOURCE = { type: 'prometheus', uid: '$datasource' };
const STAT_HEIGHT = 4;
const HEIGHT = 8;

function panelJson(panel: Panel, id: number, gridPos: { x: number; y: number; w: number; h: number }) {
  const { title, about, kind = 'timeseries', unit = 'short', stacked = false, named = false, bad, queries } = panel;
  const isGraph = kind === 'timeseries';
  return {
    id,
    type: kind,
    title,
    description: about,
    datasource: DATASOURCE,
    gridPos,
    fieldConfig: {
      defaults: {
        unit,
        min: isGraph ? 0 : null,
        color: { mode: kind === 'stat' ? 'thresholds' : 'palette-classic' },
        thresholds: {
          mode: 'absolute',
          steps: [{ color: 'green', value: null }, ...(bad === undefined ? [] : [{ color: 'red', value: bad }])],
        },
        ...(isGraph && {
          custom: { fillOpacity: stacked ? 30 : 8, lineWidth: 1, stacking: { mode: stacked ? 'normal' : 'none' } },
        }),
      },
      overrides: [],
    },
    options: named ? { ...buildOptions(kind), textMode: 'name' } : buildOptions(kind),
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend ?? '__auto',
      ...(isGraph ? { range: true } : { instant: true, range: false, ...(kind === 'table' && { format: 'table' }) }),
    })),
  };
}

const buildOptions = (kind: NonNullable<Panel['kind']>) =>
  ({
    timeseries: {
      legend: { displayMode: 'table', placement: 'bottom', calcs: ['lastNotNull', 'max'] },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
    stat: { colorMode: 'value', graphMode: 'none', reduceOptions: { calcs: ['lastNotNull'] }, textMode: 'auto' },
    table: { showHeader: true, cellHeight: 'sm' },
  })[kind];

/** Panels from left to right, and further down when a line is full. */
function place(rows: Dashboard['rows']) {
  const placed: object[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    placed.push({
      id: placed.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: 24, h: 1 },
      panels: [],
    });
    y++;
    let x = 0;
    let line = 0;
    for (const panel of panels) {
      const w = panel.width ?? (panel.kind === 'stat' ? 4 : 8);
      const h = panel.kind === 'stat' ? STAT_HEIGHT : HEIGHT;
      if (x + w > 24) {
        y += line;
        x = 0;
        line = 0;
      }
      placed.push(panelJson(panel, placed.length + 1, { x, y, w, h }));
      x += w;
      line = Math.max(line, h);
    }
    y += line;
  }
  return placed;
}

const variableJson = ({ name, query, multi = false }: Variable) => ({
  name,
  type: 'query',
  datasource: DATASOURCE,
  query: { query, refId: name },
  definition: query,
  refresh: 2,
  sort: 1,
  multi,
  includeAll: multi,
  ...(multi && { allValue: '.*', current: { text: ['All'], value: ['$__all'] } }),
});

export const dashboardJson = ({ uid, title, description, variables, rows }: Dashboard) => ({
  uid,
  title,
  description,
  tags: ['loopstream'],
  schemaVersion: 39,
  editable: true,
  refresh: '30s',
  time: { from: 'now-6h', to: 'now' },
  timezone: 'browser',
  templating: {
    list: [
      { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' },
      ...variables.map(variableJson),
    ],
  },
  links: [
    {
      type: 'dashboards',
      tags: ['loopstream'],
      title: 'loopstream',
      asDropdown: false,
      includeVars: true,
      keepTime: true,
    },
  ],
  panels: place(rows),
});
