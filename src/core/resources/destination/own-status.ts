/**
 * Takes over of a destination's status that another UID had the result of its last test, which is not asked for again then, and the progress of
 * a repair, so that no second broadcast is made. Whether its Secret can be used, and what viewers see, is judged anew. Pure: no I/O, no clock.
 */
import { believeStatus } from '../common/own-status.ts';
import type { Destination } from './resource.ts';

/** The destination with a status that can be believed. */
export const believeDestination = believeStatus<Destination>(({ test, platform }) => ({
  ...(test && { test }),
  ...(platform?.repair && {
    platform: { checkedAt: platform.checkedAt, expiresAt: platform.checkedAt, repair: platform.repair },
  }),
}));
