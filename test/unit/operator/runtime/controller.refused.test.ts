/** Tests that the controller tells a permanent refusal of Kubernetes from a passing one. */
import { expect, it } from 'vitest';
import { KubeError } from '../../../../src/kube/types.ts';
import { describeRefusal, isRefusal } from '../../../../src/operator/runtime/controller.ts';

const forbidden = (why: string) => new KubeError(403, 'Forbidden', `pods "onair" is forbidden: ${why}`);

it('is classified: a passing one is retried, and the rest waits for others', () => {
  expect(isRefusal(forbidden('violates PodSecurity "restricted:latest"'))).toBe(true);
  expect(
    isRefusal(
      forbidden(
        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
      ),
    ),
  ).toBe(true);
  expect(isRefusal(new KubeError(422, 'Invalid', 'spec.containers: Required value'))).toBe(true);
  expect(isRefusal(new KubeError(409, 'Conflict', 'it has changed'))).toBe(false);
  expect(isRefusal(new Error('no answer'))).toBe(false);
  // kube-apiserver 1.36 returns these in the first moments of a namespace, and of a kind.
  expect(
    isRefusal(forbidden('error looking up service account media/default: serviceaccount "default" not found')),
  ).toBe(false);
  const unknownKind = 'cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion';
  expect(isRefusal(forbidden(`${unknownKind} loopstream.dev/v1beta1 Kind Upload: no matches for kind`))).toBe(false);
});

it('is described by the Role that is missing, where a right is, and else in its own words', () => {
  const rbac =
    'jobs.batch is forbidden: User "system:serviceaccount:s:o" cannot create resource "jobs" in API group "batch" in the namespace "a"';
  expect(describeRefusal(new KubeError(403, 'Forbidden', rbac), 'a')).toMatch(
    /^The Role "loopstream-operator" .* "a"\./,
  );
  const quota = forbidden('exceeded quota: small');
  expect(describeRefusal(quota, 'a')).toBe(quota.message);
});
