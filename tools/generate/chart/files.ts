/**
 * Builds the generated files of the chart: the values' three faces, the definitions from crds/, and the rules from
 * manifests/, so that nothing is said in two places. Pure: no I/O, no clock.
 */
import { Document, parseAllDocuments, stringify } from 'yaml';
import { getDefault, leaves, type Value } from './schema.ts';
import { settingsTemplate } from './settings.ts';
import { GONE, UNREAD, VALUES } from './values.ts';

const MADE = 'Made by `npm run generate`; a test fails when it is not current.';
const STYLE = { lineWidth: 120, flowCollectionPadding: false };

const words = (description: string, indent: string): string => {
  const lines = [''];
  for (const word of description.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last === '') lines[lines.length - 1] = word;
    else if (indent.length + last.length + word.length < 115) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => `${indent}# ${line}\n`).join('');
};

/** One value below the sentence that describes it. */
function valuesYaml(properties: Record<string, Value>, indent = ''): string {
  return Object.entries(properties)
    .map(([name, value]) => {
      const above = `${indent === '' ? '\n' : ''}${words(value.description, indent)}${indent}`;
      if (value.properties) return `${above}${name}:\n${valuesYaml(value.properties, `${indent}  `)}`;
      const lines = stringify({ [name]: getDefault(value) }, STYLE)
        .trimEnd()
        .split('\n');
      return `${above}${lines.join(`\n${indent}`)}\n`;
    })
    .join('');
}

/** The same value, which lets values that are gone pass. */
function admitGone(value: Value, path = ''): Value {
  if (!value.properties) return value;
  const known = Object.entries(value.properties).map(([name, child]) => [name, admitGone(child, `${path}${name}.`)]);
  const gone = [...GONE, ...UNREAD].filter((one) => one.startsWith(path) && !one.slice(path.length).includes('.'));
  const admitted = gone.map((one) => [one.slice(path.length), { description: 'Gone.' }]);
  return { ...value, properties: Object.fromEntries([...known, ...admitted]) };
}

/** Helm hands `global` to every chart that another one includes. */
const schema = () => {
  const { properties, ...values } = admitGone(VALUES);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'loopstream',
    ...values,
    properties: {
      ...properties,
      global: { type: 'object', description: 'Global values of a parent chart. This chart does not read them.' },
    },
  };
};

const cell = (value: unknown) => `\`${JSON.stringify(value)}\``.replaceAll('|', '\\|');

function valuesTable(): string {
  const rows = leaves(VALUES).map(({ path, value }) => {
    const among = Array.isArray(value.enum) ? ` One of ${value.enum.map((one) => `\`${one}\``).join(', ')}.` : '';
    return [`\`${path}\``, cell(value.default), `${value.description}${among}`.replaceAll('|', '\\|')];
  });
  const all = [['value', 'default', 'meaning'], ...rows];
  const width = (column: number) => Math.max(...all.map((row) => [...(row[column] ?? '')].length));
  const line = (row: string[]) =>
    `| ${row.map((text, i) => text + ' '.repeat(width(i) - [...text].length)).join(' | ')} |`;
  const [head = [], ...body] = all;
  return [line(head), line(head.map((_, i) => '-'.repeat(width(i)))), ...body.map(line)].join('\n');
}

export interface Sources {
  /** File name → text of a definition. */
  crds: Map<string, string>;
  /** manifests/rbac.yaml and all-namespaces.yaml. */
  rbac: string;
  /** The README's text up to its table. */
  readme: string;
}

/** The rules of each Role as they are written, comments included. */
function rules(rbac: string): [path: string, text: string][] {
  return parseAllDocuments(rbac).flatMap((document): [string, string][] => {
    if (document.get('kind') !== 'Role' && document.get('kind') !== 'ClusterRole') return [];
    const role = String(document.getIn(['metadata', 'name'])).replace(/^loopstream-(.*?)(-loopstream)?$/, '$1');
    const file = new Document({});
    file.set('rules', document.get('rules', true));
    return [[`files/rules/${role}.yaml`, `# From manifests/. ${MADE}\n${file.toString(STYLE)}`]];
  });
}

/** Path in the chart → text. */
export const chartFiles = ({ crds, rbac, readme }: Sources): Map<string, string> =>
  new Map([
    ['values.yaml', `# Values of the chart. ${MADE}\n${valuesYaml(VALUES.properties ?? {})}`],
    ['templates/_settings.tpl', settingsTemplate(MADE)],
    ['values.schema.json', `${JSON.stringify(schema(), undefined, 2)}\n`],
    ['README.md', `<!-- ${MADE} -->\n\n${readme.trimEnd()}\n\n${valuesTable()}\n`],
    ...[...crds].map(([name, crd]): [string, string] => [`files/crds/${name}`, crd]),
    ...rules(rbac),
  ]);
