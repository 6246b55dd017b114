/** Runs the programs that check manifests: kubeconform, kube-score and checkov. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { environment } from '../../../../src/core/settings/environment.ts';
import { ensureGoModule } from '../../../../tools/control-plane/go-module.ts';
import { type CommandResult, run } from '../../../../tools/process/run.ts';
import { ensurePythonProgram } from '../python/program.ts';

const GO = {
  name: 'the programs that check the chart',
  file: 'test-chart-checks',
  moduleDir: import.meta.dirname,
  seldomUsed: ['all'],
  programs: {
    kubeconform: { goPackage: 'github.com/yannh/kubeconform/cmd/kubeconform' },
    'kube-score': { goPackage: 'github.com/zegl/kube-score/cmd/kube-score' },
  },
} as const;
const CHECKOV = { name: 'checkov', requirements: join(import.meta.dirname, 'requirements.txt') };
const TIMEOUT_MS = 280_000;

/** Builds or fetches missing programs, in two minutes the first time; returns absolute paths. */
export async function ensureChartChecks(onProgress?: (step: string) => void) {
  const [programs, checkov] = await Promise.all([
    ensureGoModule(GO, onProgress),
    ensurePythonProgram(CHECKOV, onProgress),
  ]);
  return { ...programs, checkov };
}

export interface Finding {
  tool: 'kube-score' | 'checkov';
  check: string;
  /** `Deployment/loopstream-api` */
  object: string;
}

const execute = (command: string, args: string[]): Promise<CommandResult> =>
  // checkov would look for its guides on the network, and wait for an answer.
  run(command, args, { env: { ...environment(), BC_SKIP_MAPPING: 'TRUE' }, timeoutMs: TIMEOUT_MS });

interface Score {
  object_name: string;
  type_meta: { kind: string };
  object_meta: { name: string };
  checks: { check: { id: string }; grade: number; skipped: boolean; comments: { summary: string }[] | null }[];
}
/** Of kube-score's grades: 1 is critical, 5 a warning, 7 nearly all right, 10 all right. */
const WARNING = 5;

export async function runKubeScore(program: string, file: string): Promise<Finding[]> {
  const { stdout, stderr } = await execute(program, ['score', '--kubernetes-version', 'v1.36', '-o', 'json', file]);
  if (stdout === '') throw new Error(stderr);
  return (JSON.parse(stdout) as Score[]).flatMap(({ type_meta, object_meta, checks }) =>
    checks
      .filter(({ grade, skipped }) => !skipped && grade <= WARNING)
      .flatMap(({ check, comments }) => comments?.map(({ summary }) => `${check.id}: ${summary}`) ?? check.id)
      .map((check) => ({ tool: 'kube-score' as const, check, object: `${type_meta.kind}/${object_meta.name}` })),
  );
}

interface CheckovReport {
  results: {
    passed_checks: { file_path: string }[];
    failed_checks: { check_id: string; check_name: string; resource: string }[];
  };
  summary: { parsing_errors: number };
}

/** All files in one run: to load the program takes longer than its checks. */
export async function runCheckov(program: string, files: readonly string[]): Promise<Finding[]> {
  const how = ['--framework', 'kubernetes', '--compact', '--skip-download', '--output', 'json'];
  const { stdout, stderr } = await execute(program, ['--file', ...files, ...how]);
  if (stdout === '') throw new Error(stderr);
  const { results, summary } = JSON.parse(stdout) as CheckovReport;
  const read = new Set(results.passed_checks.map(({ file_path }) => basename(file_path)));
  const unread = files.filter((file) => !read.has(basename(file)));
  if (summary.parsing_errors > 0 || unread.length > 0)
    throw new Error(`checkov could not read ${unread.join(', ')}: ${stdout}`);
  return results.failed_checks.map(({ check_id, check_name, resource }) => {
    const [kind = '', , name = ''] = resource.split('.');
    return { tool: 'checkov', check: `${check_id}: ${check_name}`, object: `${kind}/${name}` };
  });
}

export interface OpenApi {
  definitions: Record<string, Record<string, unknown>>;
}
type Schema = Record<string, unknown>;

/** Types whose JSON may be a number or a text, which OpenAPI 2 cannot say. */
const EITHER = ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', 'io.k8s.apimachinery.pkg.api.resource.Quantity'];

/** Refuses what the API server does not know, as `kubectl apply --validate=strict` does. */
const makeStrict = (schema: Schema): Schema =>
  schema.properties !== undefined &&
  schema.additionalProperties === undefined &&
  schema['x-kubernetes-preserve-unknown-fields'] !== true
    ? { ...schema, additionalProperties: false }
    : schema;

/** Returns the definitions that one refers to, directly or not, and itself. */
function findNeeded(definitions: Record<string, Schema>, name: string): Record<string, Schema> {
  const needed: Record<string, Schema> = {};
  const left = [name];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const schema = definitions[next];
    if (schema === undefined || next in needed) continue;
    needed[next] = schema;
    for (const [, other = ''] of JSON.stringify(schema).matchAll(/"\$ref":"#\/definitions\/([^"]+)"/g))
      left.push(other);
  }
  return needed;
}

/**
 * Writes the schemas of an API server (`GET /openapi/v2`) as kubeconform reads them: a file for each kind, with what that needs alone. It
 * would read one file of all definitions again for each kind.
 */
export function writeSchemas({ definitions }: OpenApi, dir: string): void {
  mkdirSync(dir, { recursive: true });
  const strict = Object.fromEntries(
    Object.entries(definitions).map(([name, schema]) => [
      name,
      EITHER.includes(name) ? { type: ['string', 'number'] } : makeStrict(schema),
    ]),
  );
  for (const [name, schema] of Object.entries(definitions)) {
    const kinds = (schema['x-kubernetes-group-version-kind'] ?? []) as {
      group: string;
      version: string;
      kind: string;
    }[];
    for (const { group, version, kind } of kinds) {
      // kubeconform takes the version of the core group for its name.
      const file = `${kind.toLowerCase()}-${group || version}-${version}.json`;
      const needed = findNeeded(strict, name);
      writeFileSync(
        join(dir, file),
        JSON.stringify({ allOf: [{ $ref: `#/definitions/${name}` }], definitions: needed }),
      );
    }
  }
}

/** Returns a line for each object that does not fit its schema, or has none; and how many do. */
export async function runKubeconform(program: string, schemas: string, file: string) {
  const where = `${schemas}/{{ .ResourceKind }}-{{ .Group }}-{{ .ResourceAPIVersion }}.json`;
  const { stdout, stderr } = await execute(program, [
    '-strict',
    '-output',
    'json',
    '-summary',
    '-schema-location',
    where,
    file,
  ]);
  if (stdout === '') throw new Error(stderr);
  const { resources, summary } = JSON.parse(stdout) as {
    resources: { kind: string; name: string; msg: string }[] | null;
    summary: { valid: number };
  };
  return { refused: (resources ?? []).map(({ kind, name, msg }) => `${kind}/${name}: ${msg}`), valid: summary.valid };
}
