/** The account of who wrote what follows an object from one version to the other. */
import { expect, test } from 'vitest';
import {
  convertManagedFields,
  type FieldSet,
  type ManagedFieldsEntry,
} from '../../../../src/resources/versions/managed-fields.ts';

const entry = (manager: string, version: string, fieldsV1: FieldSet, more: Partial<ManagedFieldsEntry> = {}) =>
  ({ manager, operation: 'Update', apiVersion: `loopstream.dev/${version}`, fieldsV1, ...more }) as ManagedFieldsEntry;
const status = { subresource: 'status' };

test('a field has its name of that version, in entries of lists too; back again, the account is the same', () => {
  const items = { 'k:{"id":"a"}': { '.': {}, 'f:uploadName': {} } };
  const playlist = [entry('kubectl', 'v1beta1', { 'f:spec': { 'f:track': {}, 'f:items': items } })];
  const alpha = convertManagedFields('Playlist', playlist, 'v1alpha1');
  const renamed = { 'k:{"id":"a"}': { '.': {}, 'f:uploadRef': {} } };
  expect(alpha).toEqual([entry('kubectl', 'v1alpha1', { 'f:spec': { 'f:kind': {}, 'f:items': renamed } })]);
  expect(convertManagedFields('Playlist', alpha, 'v1beta1')).toEqual(playlist);
  expect(convertManagedFields('Playlist', alpha, 'v1alpha1')).toBe(alpha);
});

test('for an older release the whole status of the operator counts as applied', () => {
  const others = [
    entry('kubectl', 'v1alpha1', { 'f:spec': { 'f:quality': {} } }),
    entry('loopstream-meter', 'v1alpha1', { 'f:status': { 'f:acknowledgedSession': {} } }, status),
  ];
  const applied = { 'f:status': { 'f:phase': {}, 'f:podName': {} } };
  const put = { 'f:status': { 'f:podName': {}, 'f:canStart': {} } };
  const both = [
    entry('loopstream-operator', 'v1alpha1', applied, { ...status, operation: 'Apply' }),
    ...others,
    entry('loopstream-operator', 'v1beta1', put, status),
  ];
  const whole = { 'f:status': { 'f:phase': {}, 'f:podName': {}, 'f:ready': {} } };
  const joined = entry('loopstream-operator', 'v1alpha1', whole, { ...status, operation: 'Apply' });
  expect(convertManagedFields('LoopStream', both, 'v1alpha1')).toEqual([...others, joined]);
});
