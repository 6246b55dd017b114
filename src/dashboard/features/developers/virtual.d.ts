/** The address of the reference's script: see vite.config.ts. */
declare module 'virtual:api-reference' {
  const url: string;
  export default url;
}
