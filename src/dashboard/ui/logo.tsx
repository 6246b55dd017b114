/** The mark: a loop that never ends around a light that says "on air". */
export function Logo({ size = 28 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <path
        d="M26.7 18.7A11 11 0 1 1 24.4 8.9"
        fill="none"
        stroke="var(--ls-accent)"
        strokeWidth="3.2"
        strokeLinecap="round"
      />
      <path d="M28.2 13.4 20.9 11.9 27.9 6z" fill="var(--ls-accent)" stroke="var(--ls-accent)" strokeLinejoin="round" />
      <circle cx="16" cy="16" r="4.4" fill="var(--ls-live)" />
    </svg>
  );
}
