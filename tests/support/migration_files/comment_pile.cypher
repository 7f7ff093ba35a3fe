// @migration V0001__comment_pile
// @why     Everything that looks like the end of a statement and is not; four statements in all.
/* a block; with 'quotes" and `ticks; */ // and a line; after it
CREATE (:Odd {text: 'a;b', more: "c;'d", escaped: 'it\'s; "so"', slash: '\\'}); // tail; comment
/**/
CREATE (:Odd {text: '// no comment; /* none */', `odd;``name;`: 1}) /* ; */ ; ;;

CREATE (:`Odd;Label` {text: "line one;
line two; 'three'"})
;
/* only a comment; nothing to run */
;
CREATE (:Odd {text: "https://example.org/;x"})
