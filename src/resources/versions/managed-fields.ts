/**
 * Converts the account of who wrote which fields of an object (`metadata.managedFields`). Kubernetes refuses server-side apply for an object
 * that has an entry in a version which is no longer served. Pure: no I/O, no clock.
 */
import { FIELD_MANAGER_OPERATOR, GROUP, VERSION } from '../common/names.ts';
import { type Kind, NAMES, type NameNode, swapName, type Version } from './names.ts';

/** `f:name` is a field, any other key an entry of a list or the value itself (sigs.k8s.io/structured-merge-diff, fieldpath). */
export interface FieldSet {
  [key: string]: FieldSet;
}

/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/ */
export interface ManagedFieldsEntry {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  subresource?: string;
  fieldsV1?: FieldSet;
}

function renameSet(set: FieldSet, node: NameNode | undefined): FieldSet {
  if (!node) return set;
  return Object.fromEntries(
    Object.entries(set).map(([key, below]) => {
      if (!key.startsWith('f:')) return [key, renameSet(below, node)];
      const name = key.slice('f:'.length);
      return [`f:${swapName(node, name)}`, renameSet(below, node.below.get(name))];
    }),
  );
}

function joinSets(a: FieldSet, b: FieldSet): FieldSet {
  const joined = { ...a };
  for (const [key, below] of Object.entries(b)) joined[key] = joinSets(joined[key] ?? {}, below);
  return joined;
}

const isStatusOfOperator = ({ manager, subresource }: ManagedFieldsEntry): boolean =>
  manager === FIELD_MANAGER_OPERATOR && subresource === 'status';

/**
 * The operator writes statuses by PUT, releases before v1beta1 by server-side apply: what such a release leaves out goes only where it counts as
 * applied, and by nobody else.
 */
function joinStatus(entries: readonly ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  const [first, ...others] = entries.filter(isStatusOfOperator);
  if (!first) return [...entries];
  const fieldsV1 = others.reduce((set, entry) => joinSets(set, entry.fieldsV1 ?? {}), first.fieldsV1 ?? {});
  return [...entries.filter((entry) => !isStatusOfOperator(entry)), { ...first, operation: 'Apply', fieldsV1 }];
}

/** Returns the entries as a release whose version is `to` needs them; the same array where they are so already. */
export function convertManagedFields(
  kind: Kind,
  entries: readonly ManagedFieldsEntry[],
  to: Version,
): readonly ManagedFieldsEntry[] {
  const apiVersion = `${GROUP}/${to}`;
  const isBack = to !== VERSION;
  const isDone = (entry: ManagedFieldsEntry) =>
    entry.apiVersion === apiVersion && !(isBack && isStatusOfOperator(entry) && entry.operation === 'Update');
  if (entries.every(isDone)) return entries;
  const converted = entries.map((entry) =>
    entry.apiVersion === apiVersion
      ? entry
      : { ...entry, apiVersion, ...(entry.fieldsV1 && { fieldsV1: renameSet(entry.fieldsV1, NAMES[kind]) }) },
  );
  return isBack ? joinStatus(converted) : converted;
}
