/** Types the parts of the OpenAPI 3.1 document that this folder uses. Pure. */

export type Json = Record<string, unknown>;

export interface MediaTypeObject extends Json {
  schema?: Json;
}

export interface Response extends Json {
  headers?: Json;
  content?: Record<string, MediaTypeObject>;
}

export interface OperationObject extends Json {
  operationId: string;
  tags?: string[];
  parameters?: (Json & { name: string; in: string; required?: boolean; schema: Json })[];
  requestBody?: { required?: boolean; content: Record<string, MediaTypeObject> };
  responses: Record<string, Response | { $ref: string }>;
}

/** Parts that are read; the document is complete OpenAPI. */
export interface OpenApi extends Json {
  paths: Record<string, Record<string, OperationObject>>;
  components: {
    schemas: Record<string, Json>;
    responses: Record<string, Response>;
    headers: Json;
    securitySchemes: Json;
    /** Of webhooks. */
    pathItems: Json;
  };
}
