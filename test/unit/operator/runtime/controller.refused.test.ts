/** Tests that the controller tells a permanent refusal of Kubernetes from a passing one. */
import { expect, it } from 'vitest';
import { KubeError } from '../../../../src/kube/types.ts';
import { isRefusal } from '../../../../src/operator/runtime/controller.ts';

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
  expect(isRefusal(forbidden(`${unknownKind} loopstream.dev/v1alpha1 Kind Upload: no matches for kind`))).toBe(false);
});
