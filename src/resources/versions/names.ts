/**
 * Lists the fields that v1beta1 names otherwise than v1alpha1. The conversion of objects (convert.ts) and the schemas of
 * v1alpha1 (crd/rename.ts) follow from this table. Pure: no I/O, no clock.
 */

/** Versions of our kinds, newest first. */
export const VERSIONS = ['v1beta1', 'v1alpha1'] as const;
export type Version = (typeof VERSIONS)[number];

export const KINDS = ['LoopStream', 'Playlist', 'Upload', 'Destination'] as const;
export type Kind = (typeof KINDS)[number];

interface Differences {
  /** Path of a field in v1beta1 → its name in v1alpha1. `[]` stands for each entry of a list. */
  names: Record<string, string>;
  /** Path of a field whose value is the name of another field → path of the object that has that field. */
  values?: Record<string, string>;
}

const DIFFERENCES: Record<Kind, Differences> = {
  LoopStream: {
    names: {
      'spec.uploadName': 'uploadRef',
      'spec.playlistNames': 'playlistRefs',
      'spec.audioPlaylistNames': 'audioPlaylistRefs',
      'spec.destinationNames': 'destinationRefs',
      'spec.itemFailurePolicy': 'onItemFailure',
      'spec.startPolicy': 'start',
      'spec.disruptionPolicy': 'disruption',
      'status.canStart': 'ready',
      'status.destinationSummary': 'destinations',
    },
    values: { 'status.unplayable.items[].field': 'spec' },
  },
  Playlist: {
    names: {
      'spec.track': 'kind',
      'spec.items[].uploadName': 'uploadRef',
    },
  },
  Upload: {
    names: {
      'spec.track': 'type',
      'status.phase': 'state',
    },
  },
  Destination: { names: {} },
};

/** The names of one object of a kind, and of the objects below it. The entries of a list share one node. */
export interface NameNode {
  /** Name in v1beta1 → name in v1alpha1, of fields whose names differ. */
  toAlpha: ReadonlyMap<string, string>;
  toBeta: ReadonlyMap<string, string>;
  /** Field whose values are names of fields → the node that has those fields. */
  values: ReadonlyMap<string, NameNode>;
  /** Field → the node of its object. A field with another name in v1alpha1 has none. */
  below: ReadonlyMap<string, NameNode>;
}

interface Growing extends NameNode {
  toAlpha: Map<string, string>;
  toBeta: Map<string, string>;
  values: Map<string, NameNode>;
  below: Map<string, Growing>;
}

const createNode = (): Growing => ({ toAlpha: new Map(), toBeta: new Map(), values: new Map(), below: new Map() });

/** Steps of a path: lists have none of their own. */
const splitPath = (path: string): string[] => path.replaceAll('[]', '').split('.');

function growNode(root: Growing, steps: readonly string[]): Growing {
  let node = root;
  for (const step of steps) {
    const next = node.below.get(step) ?? createNode();
    node.below.set(step, next);
    node = next;
  }
  return node;
}

function buildTree({ names, values = {} }: Differences): NameNode {
  const root = createNode();
  for (const [path, alpha] of Object.entries(names)) {
    const steps = splitPath(path);
    const beta = steps.pop() ?? '';
    const node = growNode(root, steps);
    node.toAlpha.set(beta, alpha);
    node.toBeta.set(alpha, beta);
  }
  for (const [path, owner] of Object.entries(values)) {
    const steps = splitPath(path);
    const field = steps.pop() ?? '';
    growNode(root, steps).values.set(field, growNode(root, splitPath(owner)));
  }
  return root;
}

/** The names of each kind, from the root of its objects. */
export const NAMES: Readonly<Record<Kind, NameNode>> = {
  LoopStream: buildTree(DIFFERENCES.LoopStream),
  Playlist: buildTree(DIFFERENCES.Playlist),
  Upload: buildTree(DIFFERENCES.Upload),
  Destination: buildTree(DIFFERENCES.Destination),
};

/**
 * Swaps the two names of a field, and returns any other name unchanged. A swap is its own inverse, so a conversion loses
 * nothing: a field with the other version's name, which neither version knows, stays one that neither knows.
 */
export const swapName = (node: NameNode, name: string): string =>
  node.toAlpha.get(name) ?? node.toBeta.get(name) ?? name;

/** Returns a value that `node` describes, with each name given by `rename`. */
export function renameFields(value: unknown, node: NameNode | undefined, rename: typeof swapName): unknown {
  if (!node || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((entry) => renameFields(entry, node, rename));
  return Object.fromEntries(
    Object.entries(value).map(([name, field]: [string, unknown]) => {
      const named = node.values.get(name);
      const renamed =
        named && typeof field === 'string' ? rename(named, field) : renameFields(field, node.below.get(name), rename);
      return [rename(node, name), renamed];
    }),
  );
}
