/** The description's document (OpenAPI 3.1), as far as it is read and written here. Pure. */

export type Json = Record<string, unknown>;

export interface MediaType extends Json {
  schema?: Json;
}

export interface Response extends Json {
  headers?: Json;
  content?: Record<string, MediaType>;
}

export interface OperationObject extends Json {
  operationId: string;
  tags?: string[];
  parameters?: (Json & { name: string; in: string; required?: boolean; schema: Json })[];
  requestBody?: { required?: boolean; content: Record<string, MediaType> };
  responses: Record<string, Response | { $ref: string }>;
}

/** What is read of the document; it has all that OpenAPI asks for. */
export interface OpenApi extends Json {
  paths: Record<string, Record<string, OperationObject>>;
  components: {
    schemas: Record<string, Json>;
    responses: Record<string, Response>;
    headers: Json;
    securitySchemes: Json;
  };
}
