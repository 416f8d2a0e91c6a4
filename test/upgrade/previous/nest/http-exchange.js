import { markReplySent } from '../http/wire/reply-sent.js';
import { PROBLEM_TYPE } from '../http/problem.js';
import { checkpointOf, rememberHeaders, rememberStatus, } from './checkpoint.js';
export function httpExchange(platform, context) {
    const http = context.switchToHttp();
    return platform === 'express'
        ? expressExchange(http.getRequest(), http.getResponse())
        : fastifyExchange(http.getRequest(), http.getResponse());
}
function expressExchange(request, response) {
    const pattern = `${request.baseUrl}${request.route.path}`;
    let withdraw = nothingToWithdraw;
    const access = {
        get: (name) => response.getHeader(name),
        set: (name, value) => response.setHeader(name, value),
        remove: (name) => response.removeHeader(name),
    };
    return {
        request,
        response,
        content: contentOf(request, pattern, request, expressBody(request)),
        status: () => response.statusCode,
        pendingHeaders: () => ({}),
        headers: () => response.getHeaders(),
        textType: 'text/html; charset=utf-8',
        toJson: (value) => expressJson(value, response.app),
        checkpoint: () => checkpointOf(request, request, [
            rememberHeaders(() => response.getHeaders(), access),
            rememberStatus(response, response),
        ]),
        announce: (problem, headers) => {
            withdraw = setHeaders(headers, access);
            const { json } = response;
            response.json = (body) => {
                if (body === problem)
                    response.setHeader('Content-Type', PROBLEM_TYPE);
                return json.call(response, body);
            };
        },
        withdraw: () => withdraw(),
        takeOver: () => undefined,
        holdWith: () => undefined,
    };
}
function expressBody(request) {
    const { body, _body } = request;
    const isExpress4 = 'param' in request;
    if (!isExpress4 || (_body && announcesBody(request)))
        return body;
    const isEmpty = typeof body === 'object' && body !== null && Object.keys(body).length === 0;
    return isEmpty ? undefined : body;
}
function fastifyExchange(request, reply) {
    let withdraw = nothingToWithdraw;
    const access = {
        get: (name) => reply.getHeader(name),
        set: (name, value) => reply.header(name, value),
        remove: (name) => reply.removeHeader(name),
    };
    return {
        request: request.raw,
        response: reply.raw,
        content: contentOf(request.raw, request.routeOptions.url ?? '', request, request.body),
        status: () => reply.statusCode,
        pendingHeaders: () => reply.getHeaders(),
        headers: () => reply.getHeaders(),
        textType: 'text/plain; charset=utf-8',
        toJson: (value) => String(reply.serialize(value)),
        checkpoint: () => checkpointOf(request, request.raw, [
            rememberHeaders(() => reply.getHeaders(), access),
            rememberStatus(reply, reply.raw),
        ]),
        announce: (problem, headers) => {
            withdraw = setHeaders(headers, access);
            const { send } = reply;
            reply.send = (payload) => {
                if (payload === problem)
                    reply.header('Content-Type', PROBLEM_TYPE);
                return send.call(reply, payload);
            };
        },
        withdraw: () => withdraw(),
        takeOver: () => {
            reply.hijack();
            reply.send = sendNothing;
        },
        holdWith: (held) => markReplySent(reply, held),
    };
}
const nothingToWithdraw = () => undefined;
function setHeaders(headers, access) {
    const before = headers.map(([name]) => [name, access.get(name)]);
    for (const [name, value] of headers)
        access.set(name, value);
    return () => {
        for (const [name, value] of before) {
            if (value === undefined)
                access.remove(name);
            else
                access.set(name, value);
        }
    };
}
function expressJson(value, app) {
    const replacer = app.get('json replacer');
    const text = JSON.stringify(value, replacer, app.get('json spaces'));
    if (!app.get('json escape'))
        return text;
    return text?.replace(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
}
function sendNothing() {
    return this;
}
function contentOf(raw, pattern, { params, query, hosts, rawBody }, body) {
    return {
        method: raw.method ?? '',
        pattern,
        params,
        query,
        hosts,
        rawHeaders: raw.rawHeaders,
        contentType: raw.headers['content-type'],
        hasBody: announcesBody(raw),
        body,
        rawBody,
    };
}
function announcesBody({ headers }) {
    return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
