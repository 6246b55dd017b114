/** Says why a command of the staff does nothing, and the way on. */
export class RefusedError extends Error {}
