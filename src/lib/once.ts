/** What is made of a thing once and kept for as long as the thing is there, which must not be changed then. Pure. */
export function oncePer<T extends object, R>(make: (thing: T) => R): (thing: T) => R {
  const made = new WeakMap<T, R>();
  return (thing) => {
    const known = made.get(thing);
    if (known !== undefined) return known;
    const result = make(thing);
    made.set(thing, result);
    return result;
  };
}
