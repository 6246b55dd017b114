/** Tests which objects with the name of a stream's pod or an upload's Job the operator may delete. */
import { describe, expect, it } from 'vitest';
import { isStray, labelsFor, ownedBy } from '../../../../../src/core/operator/pods/security.ts';
import {
  COMPONENT_LABEL,
  MANAGED_BY_LABEL,
  STREAM_LABEL,
  UPLOAD_LABEL,
} from '../../../../../src/core/resources/common/names.ts';
import { stream, upload } from '../../../../kit/make/operator.ts';

const [owner, media] = [stream(), upload()];
const CASES = [
  { what: 'pod', component: 'streamer', owner, label: STREAM_LABEL, owners: ownedBy('LoopStream', owner) },
  { what: 'Job', component: 'prepare', owner: media, label: UPLOAD_LABEL, owners: ownedBy('Upload', media) },
] as const;

describe.each(CASES)('a $what with all of our labels', ({ component, owner, label, owners }) => {
  const labels: Record<string, string> = { ...labelsFor(owner, component), [label]: owner.metadata.name };
  const isStrayWith = (metadata: object): boolean =>
    isStray({ metadata: { name: 'one', labels, ownerReferences: owners, ...metadata } }, component, owner);

  it.each([
    ['without an owner', []],
    ['with an owner of another UID', owners.map((one) => ({ ...one, uid: 'earlier' }))],
  ])('is of an earlier owner of its name %s', (_what, ownerReferences) => {
    expect(isStrayWith({ ownerReferences })).toBe(true);
  });

  it('is the owner’s by its UID', () => expect(isStrayWith({})).toBe(false));

  it.each([
    [MANAGED_BY_LABEL, 'Helm'],
    [COMPONENT_LABEL, 'another'],
    [label, 'another'],
  ])('is somebody else’s where %s is %s', (key, value) => {
    const { [key]: _, ...others } = labels;
    for (const strange of [{ ...labels, [key]: value }, others])
      expect(isStrayWith({ ownerReferences: [], labels: strange })).toBe(false);
  });
});
