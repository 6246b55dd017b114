/**
 * Keeps the page working where others change its DOM: a browser that translates it puts `<font>` elements in the place of texts, and
 * extensions move or remove elements. React then updates texts that nobody sees, and fails with a NotFoundError
 * when it removes a node from a parent that no longer has it (https://github.com/facebook/react/issues/11538).
 */

/** Nodes that others took out of the page, and those that they put in the same place. */
interface Replacement {
  removed: readonly ChildNode[];
  added: readonly ChildNode[];
}

/** By a node that was taken out, and by each text in it. */
type Replacements = WeakMap<Node, Replacement>;

/** Puts the nodes back in the place of what replaced them, where that is still there. A translator then sees them as new ones. */
function undo(node: Node, replacements: Replacements): void {
  const { removed, added } = replacements.get(node) ?? { removed: [], added: [] };
  replacements.delete(node);
  // An own property hides the setter of the prototype.
  Reflect.deleteProperty(node, 'nodeValue');
  const [first, ...rest] = added.filter((one) => one.isConnected);
  if (node.isConnected || !first) return;
  first.replaceWith(...removed.filter((one) => !one.parentNode));
  for (const one of rest) one.remove();
}

/** The next update of the text shows it again. React writes to `nodeValue`. */
function awaitUpdate(text: Text, replacements: Replacements): void {
  Object.defineProperty(text, 'nodeValue', {
    configurable: true,
    get: () => text.data,
    set: (value: string | null) => {
      undo(text, replacements);
      text.data = value ?? '';
    },
  });
}

function note(removed: readonly ChildNode[], added: readonly ChildNode[], replacements: Replacements): void {
  const replacement = { removed, added };
  for (const node of removed) {
    replacements.set(node, replacement);
    const walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    for (let text: Node | null = node instanceof Text ? node : walk.nextNode(); text; text = walk.nextNode()) {
      replacements.set(text, replacement);
      awaitUpdate(text as Text, replacements);
    }
  }
}

const isSamePlace = (one: MutationRecord, other: MutationRecord): boolean =>
  one.previousSibling === other.previousSibling && one.nextSibling === other.nextSibling;

/**
 * Finds what was replaced: in one step, or a text in two, whose replacement came beside it before it went, or in its place afterwards. An
 * element that goes beside another that came is no such case: React changes lists that way.
 */
function heed(records: readonly MutationRecord[], replacements: Replacements): void {
  const added = new Set<Node>();
  const lastRemovals = new Map<Node, { record: MutationRecord; texts: Text[] }>();
  for (const record of records) {
    const came = [...record.addedNodes] as ChildNode[];
    const gone = ([...record.removedNodes] as ChildNode[]).filter((node) => !node.parentNode);
    const texts = gone.filter((node) => node instanceof Text);
    const beside = [record.previousSibling, record.nextSibling].find((node) => node !== null && added.has(node));
    const before = lastRemovals.get(record.target);
    if (came.length > 0 && gone.length > 0) note(gone, came, replacements);
    else if (texts.length > 0 && beside) note(texts, [beside as ChildNode], replacements);
    else if (texts.length > 0) lastRemovals.set(record.target, { record, texts });
    else if (came.length > 0 && before && isSamePlace(before.record, record)) note(before.texts, came, replacements);
    for (const node of came) added.add(node);
  }
}

/** Returns the child of `parent` that holds a node, however deep others have put it. */
function findHolder(parent: Node, node: Node): Node | null {
  let holder: Node | null = node;
  while (holder && holder.parentNode !== parent) holder = holder.parentNode;
  return holder;
}

/** Guards the nodes below `root` against changes by others. Call it once, before React renders. */
export function guardDom(root: Node): void {
  const replacements: Replacements = new WeakMap();
  const observer = new MutationObserver((records) => heed(records, replacements));
  observer.observe(root, { childList: true, subtree: true });
  const { removeChild, insertBefore } = Node.prototype;
  const putBack = (parent: Node, node: Node): void => {
    if (node.parentNode === parent) return;
    // Those of the same task are not reported yet.
    heed(observer.takeRecords(), replacements);
    undo(node, replacements);
  };
  Node.prototype.removeChild = function <Child extends Node>(this: Node, child: Child): Child {
    putBack(this, child);
    // Where others have moved it, it goes from there; where they have removed it, nothing is left to do.
    const parent = child.parentNode;
    return parent ? (removeChild.call(parent, child) as Child) : child;
  };
  Node.prototype.insertBefore = function <Child extends Node>(this: Node, node: Child, before: Node | null): Child {
    if (before) putBack(this, before);
    return insertBefore.call(this, node, before && findHolder(this, before)) as Child;
  };
}
