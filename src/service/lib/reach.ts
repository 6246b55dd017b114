/**
 * Limits what a request sees and changes to objects with certain labels: the reach of its API key. It is carried beside the request, since
 * a function that forgot to pass it on would open the whole account.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Labels } from '../../core/resources/common/labels.ts';
import { validationFailed } from './errors.ts';
import { fulfils, parseSelector } from './label-selector.ts';
import type { LabelRequirement, ListFilter } from './list-page.ts';

export interface Reach {
  /** As `kubectl get -l` takes it. */
  selector: string;
  requirements: readonly LabelRequirement[];
}

const storage = new AsyncLocalStorage<Reach>();

/** Runs `work`, and all that it starts, within a reach. */
export const withinReach = <T>(reach: Reach | undefined, work: () => T): T =>
  reach ? storage.run(reach, work) : work();

/** Undefined where a request may see all objects of its account, and outside of requests. */
export const currentReach = (): Reach | undefined => storage.getStore();

/** Throws SelectorError. */
export const readReach = (selector: string): Reach => ({ selector, requirements: parseSelector(selector) });

/** Whether an object with these labels is within a reach; any is where there is none. */
export const isReached = (reach: Reach | undefined, getLabel: (name: string) => string | undefined): boolean =>
  reach === undefined || reach.requirements.every((one) => fulfils(getLabel(one.name), one));

/** The filter of a list that shows no object beyond the reach. */
export const narrowFilter = (reach: Reach | undefined, filter: ListFilter): ListFilter =>
  reach ? { ...filter, labels: [...(filter.labels ?? []), ...reach.requirements] } : filter;

/**
 * Returns the labels of an object that is created within a reach: a label that can have one value alone is added. Throws
 * `validation_failed` about labels that would put the object, or leave it, beyond the reach.
 */
export function keepWithin(reach: Reach | undefined, labels: Labels): Labels {
  if (!reach) return labels;
  const only = reach.requirements.flatMap(({ name, operator, values }) => {
    const [value = ''] = values;
    return operator === 'in' && values.length === 1 && !Object.hasOwn(labels, name) ? [[name, value] as const] : [];
  });
  const kept = { ...labels, ...Object.fromEntries(only) };
  requireWithin(reach, kept);
  return kept;
}

/** Throws `validation_failed` about labels that would put an object beyond the reach. */
export function requireWithin(reach: Reach | undefined, labels: Labels): void {
  if (isReached(reach, (name) => (Object.hasOwn(labels, name) ? labels[name] : undefined))) return;
  const message = `must fulfil "${reach?.selector}": the API key is limited to objects with such labels`;
  throw validationFailed([{ path: '/labels', message }]);
}
