/** Names the objects that stand in the way of a request: those within the reach of its key. Others are only counted. */
import { callAll } from '../../../core/resources/common/called.ts';
import { readLabel } from '../../../core/resources/common/labels.ts';
import { currentReach, isReached } from '../../lib/reach.ts';

type Holder = Parameters<typeof callAll>[0][number] & Parameters<typeof readLabel>[0];

const listReached = <T extends Parameters<typeof readLabel>[0]>(objects: readonly T[]): T[] =>
  objects.filter((object) => isReached(currentReach(), (name) => readLabel(object, name)));

/** As `callAll` names them. */
export function callReached(objects: readonly Holder[]): string {
  const reached = listReached(objects);
  const others = objects.length - reached.length;
  if (others === 0) return callAll(objects);
  const counted = `${others} that this API key does not reach`;
  return reached.length === 0 ? counted : `${callAll(reached)}, and ${counted}`;
}

/** Ids in alphabetical order. */
export const listReachedIds = (objects: readonly Holder[]): string[] =>
  listReached(objects)
    .map(({ metadata }) => metadata.name)
    .sort();
