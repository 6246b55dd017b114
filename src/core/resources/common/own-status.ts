/**
 * Tells whether the status of an object is its own. A backup that is restored with its status, or a status that is copied from
 * another object, describes an object of another UID: its pods, Secrets, sessions and the answers of others are not those of this
 * one. Pure: no I/O, no clock.
 */
import { Type } from 'typebox';

/** The field of a status that names the object which it describes. A release before this one wrote none. */
export const OBSERVED_UID = {
  observedUID: Type.Optional(
    Type.String({ description: 'UID of the object that this status describes. Another one is of a restored backup.' }),
  ),
};

interface WithStatus {
  metadata: { uid: string };
  status?: { observedUID?: string };
}

/** A status without a UID is of an older release, and counts as the object's own. */
export const isOwnStatus = ({ metadata, status }: WithStatus): boolean =>
  status?.observedUID === undefined || status.observedUID === metadata.uid;

/**
 * Replaces a status of another UID with what `take` takes over of it. Use it where objects enter a process (`keep` of a cache), so that
 * nothing behind it believes the rest.
 */
export const believeStatus =
  <T extends WithStatus>(take: (status: NonNullable<T['status']>) => NonNullable<T['status']>) =>
  <O extends T>(object: O): O =>
    object.status === undefined || isOwnStatus(object) ? object : { ...object, status: take(object.status) };
