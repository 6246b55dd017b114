/**
 * Declares the shapes of Kubernetes objects for the rest of the project: plain JSON as the API server sends it. Dates
 * stay strings, resourceVersions stay opaque strings, managedFields are stripped.
 */
import type { Readable } from 'node:stream';

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
}

export interface KubeObject<Spec = unknown, Status = unknown> {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: Spec;
  status?: Status;
}

/** An object as the API server returned it: the fields that every stored object has. */
export type Stored<T extends KubeObject> = T & {
  metadata: { uid: string; resourceVersion: string; creationTimestamp: string };
};

/** One kind of resource and where its collection is. `T` is only a type: `resource<LoopStream>({...})`. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** '' for the core group. */
  group: string;
  version: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  readonly _type?: T;
}

/**
 * The error of a request that Kubernetes did not fulfil. `reason` is metav1.Status.reason, e.g. NotFound,
 * AlreadyExists, Conflict, Invalid, Forbidden, Expired. It is '' when the answer was not a Status, and 'Unreachable'
 * when none came.
 */
export class KubeError extends Error {
  readonly status: number;
  readonly reason: string;
  /** Seconds the server asked to wait (Retry-After), if it did. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    reason: string,
    message: string,
    options: { cause?: unknown; retryAfterSeconds?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'KubeError';
    this.status = status;
    this.reason = reason;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Whether an error is a KubeError of one of these reasons. */
export const hasReason = (error: unknown, ...reasons: string[]): error is KubeError =>
  error instanceof KubeError && reasons.includes(error.reason);

export interface ListOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

/** One page of a collection. `resourceVersion` is the moment the whole list is of; a watch goes on from it. */
export interface ListPage<T extends KubeObject> {
  items: Stored<T>[];
  resourceVersion: string;
  /** Token of the next page; undefined on the last one. */
  continue: string | undefined;
}

/**
 * An event of a watch. A BOOKMARK carries nothing but metadata.resourceVersion: everything before it has been
 * delivered.
 */
export type WatchEvent<T extends KubeObject> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: Stored<T> }
  | { type: 'BOOKMARK'; object: { metadata: { resourceVersion: string; annotations?: Record<string, string> } } };

/** Annotation of the bookmark that follows the whole collection. */
export const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

export interface WatchOptions extends ListOptions {
  /**
   * The watch delivers events after this one. Without it, the watch delivers the whole collection first, as ADDED, and a bookmark
   * with the annotation INITIAL_EVENTS_END (WatchList, KEP-3157). An API server that cannot do so fails with Invalid.
   */
  resourceVersion?: string;
  /** After how many seconds the server ends the watch on its own, at once and orderly; by default 290. */
  timeoutSeconds?: number;
  /** Time after the end at which the watch is taken for dead, in milliseconds; 1,500 by default. */
  graceMs?: number;
  /** How long nothing may come, not even a bookmark, before the connection counts as dead; by default 90,000 ms. */
  stallMs?: number;
  signal?: AbortSignal;
}

/** Credentials of one request: headers, and for some exec plug-ins a certificate. */
export interface KubeCredentials {
  /** A header with several values is sent once for each. */
  headers: Record<string, string | string[]>;
  tls?: { cert: string | Buffer; key: string | Buffer };
}

/** The one way to Kubernetes. Every call rejects with KubeError. Answers are raw JSON with managedFields stripped. */
export interface Kube {
  get<T extends KubeObject>(resource: Resource<T>, namespace: string, name: string): Promise<Stored<T>>;
  /** All objects, read in pages of 500. */
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<Stored<T>[]>;
  /**
   * One page of at most `limit` objects. A `continue` token that is too old rejects with Expired (410). After
   * `timeoutMs`, by default the client's, it is not waited for.
   */
  page<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions & { limit: number; continue?: string | undefined; timeoutMs?: number },
  ): Promise<ListPage<T>>;
  /**
   * Yields events as they come, until the server ends the watch or the signal aborts. Throws KubeError: 'Unreachable'
   * when the connection breaks, stalls or outlasts its time-out, or the server's error (Expired or Gone: list anew).
   */
  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /** `dryRun`: it is admitted or refused as ever, and not written. */
  create<T extends KubeObject>(
    resource: Resource<T>,
    namespace: string,
    object: T,
    options?: { dryRun?: boolean },
  ): Promise<Stored<T>>;
  /** PUT of the object, or of a subresource; fails with Conflict when metadata.resourceVersion is given and old. */
  replace<T extends KubeObject>(
    resource: Resource<T>,
    namespace: string,
    object: T,
    options?: { fieldManager?: string; subresource?: 'status' },
  ): Promise<Stored<T>>;
  /** JSON merge patch (RFC 7386) of the object, or of a subresource. `dryRun` as in `create`. */
  mergePatch<T extends KubeObject>(
    resource: Resource<T>,
    namespace: string,
    name: string,
    patch: unknown,
    options?: { subresource?: 'status' | 'resize'; dryRun?: boolean; fieldManager?: string },
  ): Promise<Stored<T>>;
  /** Server-side apply under a field manager, with force. */
  apply<T extends KubeObject>(
    resource: Resource<T>,
    namespace: string,
    object: { apiVersion: string; kind: string; metadata: ObjectMeta; [field: string]: unknown },
    options: { fieldManager: string; subresource?: 'status' },
  ): Promise<Stored<T>>;
  /**
   * Deletes an object. Returns true when it is gone, the object when finalizers or its grace period keep it for now,
   * and false when there was nothing to delete. `uid` guards against deleting a successor, `resourceVersion` against
   * deleting a changed object.
   */
  delete<T extends KubeObject>(
    resource: Resource<T>,
    namespace: string,
    name: string,
    options?: {
      uid?: string;
      resourceVersion?: string;
      gracePeriodSeconds?: number;
      propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
    },
  ): Promise<Stored<T> | boolean>;
  /** Requests any other path of the API, e.g. `/readyz` or a pod's log: the raw body, with any status. */
  raw(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; text: string }>;
  /** Opens a path whose body comes bit by bit, such as a pod's log that is followed. It may be silent for any time. */
  open(path: string, options?: { signal?: AbortSignal }): Promise<Readable>;
  close(): Promise<void>;
}
