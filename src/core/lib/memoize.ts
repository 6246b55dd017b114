/** Memoizes a function of one object in a WeakMap. The object must not be mutated afterwards. Pure. */
export function memoize<T extends object, R>(make: (thing: T) => R): (thing: T) => R {
  const made = new WeakMap<T, R>();
  return (thing) => {
    const known = made.get(thing);
    if (known !== undefined) return known;
    const result = make(thing);
    made.set(thing, result);
    return result;
  };
}
