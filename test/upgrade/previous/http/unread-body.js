export async function isEmptyBody(request) {
    if (request.readableFlowing !== null || request.readableDidRead)
        return false;
    if (request.readableLength === 0 && !request.complete && !request.destroyed)
        await firstSign(request);
    return request.readableLength === 0 && request.complete;
}
function firstSign(request) {
    return new Promise((resolve) => {
        const seen = () => {
            request.off('readable', seen).off('close', seen);
            resolve();
        };
        request.on('readable', seen).on('close', seen);
    });
}
