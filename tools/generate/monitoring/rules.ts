/** Builds the rules for Prometheus and the pages behind them from the alerts. Pure: no I/O, no clock. */
import { stringify } from 'yaml';
import { ACCESS_ALERTS } from './access.ts';
import type { Alert, Group } from './alert.ts';
import { API_ALERTS } from './api.ts';
import { BILLING_ALERTS } from './billing.ts';
import { OPERATOR_ALERTS } from './operator.ts';
import { STREAM_ALERTS } from './streams.ts';

export const GROUPS: Group[] = [
  ...STREAM_ALERTS,
  ...OPERATOR_ALERTS,
  ...API_ALERTS,
  ...ACCESS_ALERTS,
  ...BILLING_ALERTS,
];
export const ALERTS: Alert[] = GROUPS.flatMap(({ alerts }) => alerts);

/** The address of the pages; the chart replaces it by its value `monitoring.prometheusRule.runbookUrl`. */
export const RUNBOOKS = 'docs/runbooks';
const MADE = 'Made from tools/generate/monitoring/ by `make generate`; a test fails when it is not current.';

/** The reason of the stream's condition; empty where it has no problem any more. */
const CAUSE =
  '{{ with printf "loopstream_status_problem{namespace=%q,loopstream=%q}" $labels.namespace $labels.loopstream | query }}' +
  '{{ . | first | label "reason" }}{{ end }}';

export const buildRule = ({ name, expr, for: time, severity, summary, description, hasCause }: Alert) => ({
  alert: name,
  expr,
  ...(time !== undefined && { for: time }),
  labels: { severity },
  annotations: { summary, description, ...(hasCause && { cause: CAUSE }), runbook_url: `${RUNBOOKS}/${name}.md` },
});

/** A file of rules as Prometheus reads it. */
export const rulesFile = (): string =>
  `# Alerts of loopstream. ${MADE}\n${stringify(
    { groups: GROUPS.map(({ name, alerts }) => ({ name, rules: alerts.map(buildRule) })) },
    { lineWidth: 0 },
  )}`;

function runbook({
  name,
  expr,
  for: time = 'at once',
  severity,
  means,
  viewers,
  looks,
  mends,
  description,
}: Alert): string {
  const needed = ['NS', 'STREAM', 'RELEASE_NS', 'DATABASE_URL'].filter((variable) =>
    looks.some(([command]) => command.includes(`$${variable}`)),
  );
  const places: Record<string, string> = {
    NS: 'NS=…            # label `namespace` of the alert',
    STREAM: 'STREAM=…        # label `loopstream` of the alert',
    RELEASE_NS: 'RELEASE_NS=…    # namespace of the release',
    DATABASE_URL: 'DATABASE_URL=…  # URL of PostgreSQL, as the API server uses it',
  };
  const setup = needed.length === 0 ? '' : `\`\`\`sh\n${needed.map((one) => places[one]).join('\n')}\n\`\`\`\n\n`;
  return `# ${name}

<!-- ${MADE} -->

${description} Severity **${severity}**; after ${time === 'at once' ? 'no wait' : time}.

## What it means

${means}

\`\`\`promql
${expr}
\`\`\`

## What viewers see

${viewers}

## What to check

${setup}${looks.map(([command, lookFor]) => `${capital(lookFor)}:\n\n\`\`\`sh\n${command}\n\`\`\`\n`).join('\n')}
## What to do

${mends.map((one) => `- ${one}`).join('\n')}
`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const index = (): string => {
  const rows = ALERTS.map(({ name, severity, description }) => [`[${name}](${name}.md)`, severity, description]);
  const head = ['alert', 'severity', 'when'];
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((cells) => [...(cells[i] ?? '')].length)));
  const row = (cells: string[]) =>
    `| ${cells.map((cell, i) => cell + ' '.repeat((widths[i] ?? 0) - [...cell].length)).join(' | ')} |`;
  const lines = [row(head), row(widths.map((width) => '-'.repeat(width))), ...rows.map(row)];
  return `# Runbooks\n\n<!-- ${MADE} -->\n\nTo handle an alert, open its page: it has the meaning, commands to run first, and remedies. The rules are in
\`charts/loopstream/rules/alerts.yaml\`, for any Prometheus. The chart creates a PrometheusRule from them
(\`monitoring.prometheusRule.enabled\`).\n\n${lines.join('\n')}\n`;
};

/** File name → text, of docs/runbooks/. */
export const runbooks = (): Map<string, string> =>
  new Map([['README.md', index()], ...ALERTS.map((alert): [string, string] => [`${alert.name}.md`, runbook(alert)])]);
