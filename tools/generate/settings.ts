/** Writes docs/settings.md from the table of settings. Pure: no I/O, no clock. */

import type { Setting } from '../../src/core/settings/table-types.ts';
import { OTEL_VARIABLES } from '../../src/core/settings/tracing.ts';
import { SECTIONS, SETTINGS, type Section } from '../../src/service/settings/table.ts';
import { table } from './table.ts';

const HEAD = `# Settings

<!-- Made from src/core/settings/ by \`make generate\`; a test fails when it differs. -->

Each process is one role of \`loopstream\` (\`loopstream --help\`). It reads its settings from variables that begin with
\`LOOPSTREAM_\`. A wrong value ends the process with a sentence that names the variable.

To try a setting, put it before \`make run\`: \`LOOPSTREAM_BILLING=false make run\`. On Kubernetes, the
[values of the chart](../charts/loopstream/README.md) set them; \`extraEnv\` of each role sets the others.
`;

/** Texts below the title of a section. */
const NOTES: Partial<Record<Section, string>> = {
  storage: `Media is kept in a directory that every pod mounts, or in S3 or a server that speaks it. The operator hands its settings on to
its pods. An API server with \`LOOPSTREAM_STORAGE_URL\` and credentials takes resumable uploads too. Several API servers need the
same storage, and nothing else in common.

A stream reads media from S3 ahead into its cache: the current item and the next one. So an outage of S3 touches no stream whose
items are there; \`loopstream_streamer_storage_available\` and other [metrics](metrics.md) report it. Give the bucket a rule for
incomplete multipart uploads, which clears what a Job left that was killed.

\`\`\`sh
kubectl create secret generic s3 -n loopstream --from-literal=accessKeyId=… --from-literal=secretAccessKey=…
\`\`\``,
  pods: 'The operator sets these in the pods that it makes. To start such a process by hand, set them yourself.',
};

const TRACES = `These variables are those of every program with OpenTelemetry. [tracing.md](tracing.md) shows how to turn traces on.`;

const code = (text: string): string => `\`${text}\``;

const UNITS = ['', ' KiB', ' MiB', ' GiB', ' TiB'];
/** `20 GiB` for a round number of bytes, otherwise the number. */
function formatNumber(name: string, value: number): string {
  if (!name.includes('BYTES') || value < 2 ** 10) return String(value);
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(value) / 10));
  const inUnit = value / 2 ** (10 * power);
  return Number.isInteger(inUnit) ? `${inUnit}${UNITS[power]}` : String(value);
}

function formatDefault(name: string, setting: Setting): string {
  if ('computed' in setting && setting.computed !== undefined) return setting.computed;
  if (!('default' in setting) || setting.default === undefined) return '';
  const { default: value } = setting;
  if (typeof value === 'number') return code(formatNumber(name, value));
  if (typeof value !== 'object') return code(String(value));
  return Object.entries(value)
    .map(([role, port]) => `${code(String(port))} (${role})`)
    .join(', ');
}

function formatName(name: string, setting: Setting): string {
  const variable = code(`LOOPSTREAM_${name}`);
  return setting.type === 'secret' && setting.file ? `${variable}, ${code('…_FILE')}` : variable;
}

/** `whole number from 1 to 256`, for what the default does not show. */
function formatType(setting: Setting): string {
  switch (setting.type) {
    case 'integer':
      return setting.max === undefined
        ? `A whole number from ${setting.min}.`
        : `A whole number from ${setting.min} to ${setting.max}.`;
    case 'flag':
      return '`true` or `false`.';
    case 'list':
      return 'Divided by commas.';
    case 'json':
      return 'JSON.';
    case 'secret':
      return setting.file ? 'A secret, or `…_FILE` with the path of its file.' : 'A secret.';
    case 'text':
      return '';
  }
}

export function settingsDocument(): string {
  const all = Object.entries(SETTINGS) as [string, Setting][];
  const sections = (Object.entries(SECTIONS) as [Section, string][]).map(([section, title]) => {
    const rows = all
      .filter(([, setting]) => setting.section === section)
      .map(([name, setting]) => [
        formatName(name, setting),
        setting.roles.length > 5 ? 'all' : setting.roles.join(', '),
        formatDefault(name, setting),
        `${setting.description} ${formatType(setting)}`.trim(),
      ]);
    const note = NOTES[section] === undefined ? '' : `${NOTES[section]}\n\n`;
    return `\n## ${title}\n\n${note}${table([['variable', 'roles', 'default', 'meaning'], ...rows])}`;
  });
  const traces = Object.entries(OTEL_VARIABLES).map(([name, meaning]) => [code(name), 'api, operator', meaning]);
  return `${HEAD}${sections.join('')}\n## Traces\n\n${TRACES}\n\n${table([['variable', 'roles', 'meaning'], ...traces])}`;
}
