/** Tests that the controller tells a permanent refusal of Kubernetes from a passing one. */
import { expect, it } from 'vitest';
import { KubeError } from '../../../../../src/core/kube/types.ts';
import { describeRefusal, isRefusal, passesSoon } from '../../../../../src/core/operator/runtime/controller.ts';

const forbidden = (why: string) => new KubeError(403, 'Forbidden', `pods "onair" is forbidden: ${why}`);

it('is known by its reason, or by the words of admission, which chooses the reason', () => {
  expect(isRefusal(forbidden('violates PodSecurity "restricted:latest"'))).toBe(true);
  expect(
    isRefusal(
      forbidden(
        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
      ),
    ),
  ).toBe(true);
  expect(isRefusal(new KubeError(422, 'Invalid', 'spec.containers: Required value'))).toBe(true);
  for (const [status, reason] of [
    [400, ''],
    [401, 'Unauthorized'],
    [409, 'Conflict'],
    [413, 'RequestEntityTooLarge'],
    [422, 'Invalid'],
  ] as const) {
    expect(isRefusal(new KubeError(status, reason, 'admission webhook "team.example" denied the request: no'))).toBe(
      true,
    );
    const policy = `ValidatingAdmissionPolicy 'team' with binding 'team' denied request: no`;
    expect(isRefusal(new KubeError(status, reason, `pods "onair" is forbidden: ${policy}`))).toBe(true);
  }
  const away = 'Internal error occurred: failed calling webhook "team.example": connection refused';
  expect(isRefusal(new KubeError(500, 'InternalError', away))).toBe(true);
  expect(isRefusal(new KubeError(500, 'InternalError', 'etcd is away'))).toBe(false);
  expect(isRefusal(new KubeError(409, 'Conflict', 'it has changed'))).toBe(false);
  expect(isRefusal(new Error('no answer'))).toBe(false);
});

it('passes soon in the first moments of a namespace, and of a kind, as kube-apiserver 1.36 says', () => {
  const unknownKind = 'cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion';
  expect(passesSoon(`${unknownKind} loopstream.dev/v1beta1 Kind Upload: no matches for kind`)).toBe(true);
  const words = 'error looking up service account media/default: serviceaccount "default" not found';
  expect(passesSoon(words)).toBe(true);
  expect(passesSoon('exceeded quota: small')).toBe(false);
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
