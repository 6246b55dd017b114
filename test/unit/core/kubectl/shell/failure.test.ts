/** Tests that each error of Kubernetes becomes a sentence with the way on. */
import { expect, test } from 'vitest';
import { KubeError } from '../../../../../src/core/kube/types.ts';
import { describeFailure } from '../../../../../src/core/kubectl/shell/failure.ts';

const describe = (status: number, reason: string, message: string, cause?: unknown) =>
  describeFailure(new KubeError(status, reason, message, cause === undefined ? {} : { cause }), 'tv');

test('a refusal names the verb, the resource, and the role that has it', () => {
  const say = (verb: string, where: string) =>
    describe(
      403,
      'Forbidden',
      `uploads.loopstream.dev is forbidden: User "eve" cannot ${verb} resource "uploads" in API group "loopstream.dev" ${where}`,
    );
  expect(say('list', 'in the namespace "tv"')).toBe(
    'Your account may not list uploads.loopstream.dev in namespace "tv". Ask an administrator for the ClusterRole "view" there.',
  );
  expect(say('patch', 'in the namespace "tv"')).toContain('may not patch uploads.loopstream.dev in namespace "tv"');
  expect(say('patch', 'in the namespace "tv"')).toContain('ClusterRole "edit"');
  expect(say('list', 'at the cluster scope')).toContain('in the whole cluster');
  const pods = 'pods "a" is forbidden: User "eve" cannot get resource "pods/log" in API group "" in the namespace "tv"';
  expect(describe(403, 'Forbidden', pods)).toContain('may not get pods/log in namespace "tv"');
});

test('an object that is missing is told from a cluster without loopstream', () => {
  expect(describe(404, 'NotFound', 'loopstreams.loopstream.dev "bunny" not found')).toContain(
    'There is no stream "bunny" in namespace "tv".',
  );
  expect(describe(404, 'NotFound', 'the server could not find the requested resource')).toContain(
    'loopstream is not installed',
  );
  expect(describe(404, '', 'The API server responded to GET /apis with status 404.')).toContain(
    'loopstream is not installed',
  );
});

test('a plug-in may say why it gave no credentials, and a token that it printed is never quoted', () => {
  const say = (cause: unknown) => describe(0, 'Unreachable', 'The credentials could not be read.', cause);
  expect(say(new Error('Your session has expired.\nstack'))).toContain('It says: Your session has expired. Check');
  expect(say(new SyntaxError('Unexpected token in "s3cr3t"'))).not.toContain('s3cr3t');
});

test('an error of ours has no sentence', () => expect(describeFailure(new TypeError('x'), 'tv')).toBeUndefined());
