/** Turns an error into one sentence with the way on. Pure: no I/O, no clock. */
import { KubeError } from '../../kube/types.ts';
import { GROUP } from '../../resources/common/names.ts';

/** The words in which Kubernetes refuses (RBAC): the verb, the resource, its group and its namespace. */
const FORBIDDEN = /cannot (\S+) resource "([^"]+)"(?: in API group "([^"]*)")?(?:.* in the namespace "([^"]+)")?/;
/** Collections as Kubernetes names them → our words. */
const NOUNS: Readonly<Record<string, string>> = {
  loopstreams: 'stream',
  uploads: 'upload',
  destinations: 'destination',
  pods: 'pod',
};
// linear-time: the sentence is that of kube-apiserver, on the machine of a person.
const ABSENT = /^(\S+?)(?:\.\S+)? "([^"]+)" not found$/;
/** Verbs that the role for reading has. */
const READS = new Set(['get', 'list', 'watch']);

function describeForbidden(message: string): string {
  const found = FORBIDDEN.exec(message);
  if (!found) return `Kubernetes forbids this: ${message}`;
  const [, verb = '', resource = '', group = '', namespace] = found;
  const where = namespace === undefined ? 'in the whole cluster' : `in namespace "${namespace}"`;
  const what = group === '' ? resource : `${resource}.${group}`;
  const role = READS.has(verb) ? 'view' : 'edit';
  const way = namespace === undefined ? `, or name a namespace with -n` : '';
  return `Your account may not ${verb} ${what} ${where}. Ask an administrator for the ClusterRole "${role}" there${way}.`;
}

/** `namespace` is that of the command. Undefined for an error that has no such sentence: it is a bug of ours. */
export function describeFailure(error: unknown, namespace: string): string | undefined {
  if (!(error instanceof KubeError)) return undefined;
  const { status, reason, message } = error;
  if (reason === 'Forbidden') return describeForbidden(message);
  if (status === 401)
    return 'The API server does not accept your credentials. Sign in again, or name another context with --context.';
  const absent = ABSENT.exec(message);
  if (status === 404 && absent)
    return `There is no ${NOUNS[absent[1] ?? ''] ?? absent[1]} "${absent[2]}" in namespace "${namespace}". Check the name, or name another namespace with -n.`;
  if (status === 404)
    return `loopstream is not installed in this cluster: it serves no ${GROUP}. Install the chart, or name another context with --context.`;
  if (reason === 'Unreachable')
    return `${message}${describeCause(error)} Check the network, or name another context with --context.`;
  return message;
}

/** The first line of a plug-in's error. A parser's error quotes what it has read, which may be a token. */
function describeCause({ cause }: Error): string {
  if (!(cause instanceof Error) || cause instanceof SyntaxError || 'code' in cause) return '';
  const [line = ''] = cause.message.split('\n').filter((text) => text.trim() !== '');
  return line === '' ? '' : ` It says: ${line.slice(0, 300)}`;
}
